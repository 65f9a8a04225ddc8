package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/dataset"
	"bootbench/loss"
)

// lossFlags say which loss the model is trained with.
type lossFlags struct {
	loss       string
	parameters loss.Parameters // except the noise
	noise      values.Variance
	weights    string   // of classes
	only       []string // the losses that the command can train; nil: all
	givenFlags
}

// lossFlagNames are their names on the command line; those between the first and the last
// are those of loss.Info.Takes.
var lossFlagNames = []string{"loss", "noise", "C", "epsilon", "delta", "class-weight"}

func (l *lossFlags) register(f *pflag.FlagSet) {
	l.flags = f
	byTask, takes := map[loss.Task][]string{}, []string{}
	for _, name := range l.names() {
		about, err := loss.About(name)
		if err != nil { // the perceptron
			about.Task = loss.Classification
		}
		byTask[about.Task] = append(byTask[about.Task], name)
		takes = append(takes, about.Takes...)
	}
	f.StringVar(&l.loss, "loss", "",
		fmt.Sprintf("training loss `LOSS`: for labels %s; for regression %s (square takes labels, too); "+
			"bootbench help losses has the formulas; default: the preset's of DATA, else square or hinge by the "+
			"target, with --noise or --C and --gamma by a quick search; required by grid and compare",
			strings.Join(byTask[loss.Classification], ", "),
			strings.Join(append(byTask[loss.Regression], byTask[loss.Either]...), ", ")))
	f.Var(&l.noise, "noise", "noise variance `V` of the square loss, above 0: a number in squared units of "+
		"the target, or a share of its variance such as 10%; from 1e-100 to 1e100; required with --loss square "+
		"unless DATA has a preset")
	p := &l.parameters
	for _, v := range []struct {
		name      string
		to        *float64
		byDefault float64
		usage     string
	}{
		{"C", &p.C, 1, "factor `C` of the loss against the regulariser, the cost of margin violation, from 1e-30 " +
			"to 1e15"},
		{"epsilon", &p.Epsilon, 0.1, "eps: half width `E` of the tube in units of the target, from 0 to 1e30"},
		{"delta", &p.Delta, 1, "huber: residual `D` in units of the target from which on the loss is linear, " +
			"from 1e-30 to 1e30"},
	} {
		if slices.Contains(takes, v.name) {
			f.Float64Var(v.to, v.name, v.byDefault, v.usage)
		}
	}
	f.StringVar(&l.weights, "class-weight", "",
		"hinge, hinge2, logistic: `W` multiplies C of the examples of a class: balanced (n/2 over the examples "+
			"of the class), LABEL=A,LABEL=B, two numbers for the classes -1 and +1, or one for +1; from 1e-10 to "+
			"1e10; default: 1 each")
}

// lossWords are the losses that a command can train.
func lossWords(command string) []string {
	switch command {
	case "loo":
		return []string{"hard", "hinge", "square"}
	case "train":
		return append(loss.Names(), perceptronLoss)
	}
	return loss.Names()
}

// names are the losses that the command can train.
func (l *lossFlags) names() []string {
	if l.only != nil {
		return l.only
	}
	return loss.Names()
}

// lossesTopic is the page of help on losses, with the formula of each.
func lossesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Training losses l(y, f) of a target or label y and a prediction f. The model is the\n" +
		"minimum of their sum and half the squared norm of f in the kernel's space, or, where\na probability p " +
		"is given, the mean of the posterior with that likelihood.\n\n")
	for _, name := range loss.Names() {
		if about, err := loss.About(name); err == nil {
			what := map[loss.Task]string{loss.Classification: "labels", loss.Regression: "numbers",
				loss.Either: "both"}[about.Task]
			fmt.Fprintf(&b, "  %-9s %-8s %s\n", name, what, about.Formula)
		}
	}
	b.WriteString("\nParameters: --noise of square, --C of the losses with a C, --epsilon and --delta\nwhere " +
		"a formula has them. --class-weight multiplies C of the examples of a class for\nhinge, hinge2 and " +
		"logistic.")
	return &cobra.Command{Use: "losses", Short: "The formulas of the losses (a page of help)", Long: b.String()}
}

// choose is the loss that was asked for, or else base, nil for none, and its parameters; a
// parameter that the user gives replaces that of base.
func (l *lossFlags) choose(base loss.Loss, set *dataset.Set) (loss.Loss, error) {
	name := l.loss
	switch {
	case l.given("loss"):
	case base != nil:
		name = base.Name()
	default:
		return nil, usage.Errorf("--loss is required (%s)", strings.Join(l.names(), ", "))
	}
	if name == perceptronLoss && slices.Contains(l.names(), name) { // labels without a parameter
		return loss.HardMargin{}, l.refuseForeign(loss.Info{Name: name})
	}
	about, err := loss.About(name)
	if err != nil {
		return nil, usage.OneOf("loss", name, l.names()...)
	}
	if err := l.refuseForeign(about); err != nil {
		return nil, err
	}
	l.parameters.Noise = l.noise.Of(set.Y)
	used := l.used(about)
	if square, ok := base.(loss.Square); ok && about.Name == square.Name() && !l.given("noise") {
		used.Noise = square.Noise
	}
	if about.Name == (loss.Square{}).Name() && used.Noise == 0 && !l.given("noise") {
		return nil, usage.Errorf("--noise is required with --loss square: the noise variance, above 0")
	}
	if err := checkParameters(about, used); err != nil {
		return nil, err
	}
	chosen, err := loss.ByName(about.Name, used)
	return chosen, usage.Wrap(err)
}

// refuseForeign refuses parameters of other losses.
func (l *lossFlags) refuseForeign(about loss.Info) error {
	takes := about.Takes
	if about.Weighted {
		takes = append(slices.Clone(takes), "class-weight")
	}
	for _, name := range lossFlagNames[1:] {
		if !l.given(name) || slices.Contains(takes, name) {
			continue
		}
		if len(takes) == 0 {
			return usage.Errorf("--%s: --loss %s takes no parameter", name, about.Name)
		}
		return usage.Errorf("--%s: --loss %s takes only --%s", name, about.Name, strings.Join(takes, ", --"))
	}
	return nil
}

// weigh is a loss with the class weights that were asked for. The targets of set are labels.
func (l *lossFlags) weigh(chosen loss.Loss, set *dataset.Set) (loss.Loss, error) {
	if l.weights == "" {
		return chosen, nil
	}
	weights, err := readClassWeights(l.weights, set)
	if err != nil {
		return nil, err
	}
	p, _ := loss.ParametersOf(chosen)
	p.ClassWeights = weights
	weighted, err := loss.ByName(chosen.Name(), p)
	return weighted, usage.Wrap(err)
}

// used are the parameters that the loss takes; the others are 0.
func (l *lossFlags) used(about loss.Info) loss.Parameters {
	var used loss.Parameters
	for _, name := range about.Takes {
		*used.Named(name) = *l.parameters.Named(name)
	}
	return used
}

// parameterRange is from where to where a parameter of a loss may lie, beyond which
// squares and ratios of it leave the range of numbers, or nobody's data. An epsilon may
// also be 0.
var parameterRange = map[string][2]float64{
	"noise": {1e-100, 1e100}, "C": {1e-30, 1e15}, "epsilon": {0, 1e30}, "delta": {1e-30, 1e30},
}

// checkParameters names the flag of a parameter that is out of range.
func checkParameters(about loss.Info, used loss.Parameters) error {
	for _, name := range about.Takes {
		v := *used.Named(name)
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return usage.Errorf("--%s is %v, must be finite", name, v)
		case name == "epsilon" && v < 0:
			return usage.Errorf("--%s is %v, must be at least 0", name, v)
		case name != "epsilon" && !(v > 0):
			return usage.Errorf("--%s is %v, must be above 0", name, v)
		case v < parameterRange[name][0] || v > parameterRange[name][1]:
			return usage.Errorf("--%s is %v, must lie between %v and %v", name, v, parameterRange[name][0],
				parameterRange[name][1])
		}
	}
	return nil
}
