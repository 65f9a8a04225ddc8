package loss

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Parameters of training losses; each reads those that About lists and ignores the others.
type Parameters struct {
	Noise   float64 `json:"noise,omitempty"`   // square: noise variance, > 0
	C       float64 `json:"C,omitempty"`       // all losses but square and hard: their factor, in (0, 1e100]
	Epsilon float64 `json:"epsilon,omitempty"` // eps: half width of the tube, >= 0; huber: threshold
	// ClassWeights are for a loss with Info.Weighted.
	ClassWeights `json:"class_weight,omitzero"`
}

// Named points to the parameter of that name in Info.Takes, or to the weight of the label +1, class-weight;
// nil for other names.
func (p *Parameters) Named(name string) *float64 {
	if name == "class-weight" && p.ClassWeights == (ClassWeights{}) {
		p.ClassWeights = ClassWeights{1, 1}
	}
	return map[string]*float64{"noise": &p.Noise, "C": &p.C, "epsilon": &p.Epsilon,
		"class-weight": &p.Positive}[name]
}

// ParametersOf returns the parameters with which ByName makes this loss; ok is false for one outside the
// catalogue. Fields of losses and Parameters have equal names.
func ParametersOf(l Loss) (p Parameters, ok bool) {
	from, to := reflect.ValueOf(l), reflect.ValueOf(&p).Elem()
	if from.Kind() != reflect.Struct {
		return p, false
	}
	if _, err := find(l.Name()); err != nil {
		return p, false
	}
	for i := range to.NumField() {
		if field := from.FieldByName(to.Type().Field(i).Name); field.IsValid() {
			to.Field(i).Set(field)
		}
	}
	return p, true
}

// Task is the kind of targets of a loss.
type Task int

// The tasks. Labels of classification are -1 and +1.
const (
	Classification Task = iota + 1
	Regression
	Either // any finite targets, labels among them
)

// Info describes a loss of the catalogue.
type Info struct {
	Name    string
	Aliases []string
	Formula string // of the loss, or of the likelihood
	Task    Task
	// Takes lists the parameters by their names on the command line: noise, C, epsilon.
	Takes    []string
	Weighted bool // C may have a weight for each class
}

// entry is a loss of the catalogue, with its maker.
type entry struct {
	Info
	make func(Parameters) parametricLoss
}

// parametricLoss is a Loss that checks its parameters.
type parametricLoss interface {
	Loss
	check() error
}

// catalogue lists the losses of ByName.
func catalogue() []entry {
	c := []string{"C"}
	return []entry{
		{Info{"square", nil, "(f-y)^2/(2 noise)", Either, []string{"noise"}, false},
			func(p Parameters) parametricLoss { return Square{p.Noise} }},
		{Info{"hard", nil, "0 if y f >= 1, else infinite", Classification, nil, false},
			func(Parameters) parametricLoss { return HardMargin{} }},
		{Info{"hinge", nil, "C max(0, 1-y f)", Classification, c, true},
			func(p Parameters) parametricLoss { return Hinge{p.C, p.ClassWeights} }},
		{Info{"hinge2", []string{"squared-hinge"}, "C max(0, 1-y f)^2", Classification, c, true},
			func(p Parameters) parametricLoss { return SquaredHinge{p.C, p.ClassWeights} }},
		{Info{"logistic", nil, "C log(1+exp(-y f))", Classification, c, true},
			func(p Parameters) parametricLoss { return Logistic{p.C, p.ClassWeights} }},
		{Info{"eps", nil, "C max(0, |f-y|-epsilon)", Regression, []string{"C", "epsilon"}, false},
			func(p Parameters) parametricLoss { return EpsInsensitive{p.C, p.Epsilon} }},
		{Info{"absolute", nil, "C |f-y|", Regression, c, false},
			func(p Parameters) parametricLoss { return LeastAbsolute{p.C} }},
		{Info{"huber", nil, "C (f-y)^2/2 within e, C e (|f-y|-e/2) beyond, e = epsilon", Regression,
			[]string{"C", "epsilon"}, false},
			func(p Parameters) parametricLoss { return Huber{p.C, p.Epsilon} }},
		{Info{"probit", nil, "p(y|f) = Phi(y f)", Classification, nil, false},
			func(Parameters) parametricLoss { return Probit{} }},
		{Info{"logit", nil, "p(y|f) = 1/(1+exp(-y f))", Classification, nil, false},
			func(Parameters) parametricLoss { return Logit{} }},
	}
}

// find returns the entry of that name or alias.
func find(name string) (entry, error) {
	for _, e := range catalogue() {
		if e.Name == name || slices.Contains(e.Aliases, name) {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("loss: unknown loss %q (known: %s)", name, strings.Join(Names(), ", "))
}

// Names lists the training losses of ByName, without their aliases.
func Names() []string {
	var names []string
	for _, e := range catalogue() {
		names = append(names, e.Name)
	}
	return names
}

// About describes the training loss of that name or alias. It refuses unknown names.
func About(name string) (Info, error) {
	e, err := find(name)
	return e.Info, err
}

// ByName returns the training loss of that name or alias. It refuses parameters
// out of range and unknown names.
func ByName(name string, p Parameters) (Loss, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	l := e.make(p)
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// Times is a loss multiplied by v > 0, the importance weight of examples. It refuses likelihoods, whose scale
// is fixed, and losses of the caller.
func Times(l Loss, v float64) (Loss, error) {
	if l == nil {
		return nil, errors.New("loss: there is no loss")
	}
	if v == 1 || l.Name() == (HardMargin{}).Name() {
		return l, nil
	}
	p, known := ParametersOf(l)
	switch about, _ := About(l.Name()); {
	case !known || len(about.Takes) == 0:
		return nil, fmt.Errorf(
			"loss: %s takes no weights: take square, hinge, hinge2, logistic, eps, absolute or huber",
			l.Name())
	case about.Takes[0] == "noise":
		p.Noise /= v
	default:
		p.C *= v
	}
	return ByName(l.Name(), p)
}
