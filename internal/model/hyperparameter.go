package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/kernel"
	"bootbench/loss"
)

// Hyperparameter is a positive number of a Spec.
type Hyperparameter struct {
	Name    string // of kernel.Spec.Named or loss.Parameters.Named
	Feature int    // of a length scale, from 0; else -1
}

// String is the name, with the number of the feature from 1.
func (h Hyperparameter) String() string {
	if h.Feature >= 0 {
		return fmt.Sprintf("%s %d", h.Name, h.Feature+1)
	}
	return h.Name
}

// Hyperparameters are the ones of a specification with the given name: all length scales for length-scale. A
// name that the kernel or the loss lacks is bad input.
func (s *Spec) Hyperparameters(name string) (all []Hyperparameter, err error) {
	if s.Loss == nil {
		return nil, InputError(errors.New("there is no loss"))
	}
	about, _ := loss.About(s.Loss.Name())
	if s.Kernel.Named(name, -1) == nil && !slices.Contains(about.Takes, name) &&
		!(name == "class-weight" && about.Weighted) {
		return nil, InputError(fmt.Errorf("there is no %s in a model of kernel %v and loss %s", name,
			s.Kernel.Kind, s.Loss.Name()))
	}
	scales := len(s.Kernel.LengthScale)
	if name != "length-scale" || scales == 1 {
		return []Hyperparameter{{name, -1}}, nil
	}
	for feature := range scales {
		all = append(all, Hyperparameter{name, feature})
	}
	return all, nil
}

// Scales is the name in Spec.Chosen for the choice between one length scale for all features and one for
// each.
const Scales = "scales"

// Searched are the hyperparameters that were chosen, and whether it was also chosen if features share a
// length scale.
func (s *Spec) Searched() (names []string, scales bool) {
	names = slices.DeleteFunc(slices.Clone(s.Chosen), func(name string) bool { return name == Scales })
	return names, len(names) < len(s.Chosen)
}

// CompleteKernel is the kernel with its defaults, which count only the features that vary.
func (s *Spec) CompleteKernel() kernel.Spec {
	d := 1
	if s.Kernel.Gamma == 0 && len(s.Kernel.LengthScale) == 0 {
		d = s.Set.Varying()
	}
	return s.Kernel.WithDefaults(d)
}

// Value is the hyperparameter's value or default.
func (h Hyperparameter) Value(s *Spec) float64 {
	k := s.CompleteKernel()
	p, _ := loss.ParametersOf(s.Loss)
	return *cmp.Or(k.Named(h.Name, h.Feature), p.Named(h.Name))
}

// Set changes the hyperparameter, without a change of other Specs that share data with s.
func (h Hyperparameter) Set(s *Spec, value float64) error {
	s.Kernel.LengthScale = slices.Clone(s.Kernel.LengthScale)
	if field := s.Kernel.Named(h.Name, h.Feature); field != nil {
		*field = value
		return nil
	}
	p, _ := loss.ParametersOf(s.Loss)
	*p.Named(h.Name) = value
	made, err := loss.ByName(s.Loss.Name(), p)
	if err != nil {
		return InputError(err)
	}
	s.Loss = made
	return nil
}

// Factor is the power of the hyperparameter to which the loss is proportional; 0 if it is not.
func (h Hyperparameter) Factor() float64 {
	switch h.Name {
	case "C":
		return 1
	case "noise":
		return -1
	}
	return 0
}

// Gradient lists derivatives with respect to the logarithms of hyperparameters, given those with respect to
// the elements of the kernel matrix, to a factor of the loss, and to its other hyperparameters in their
// order.
func (m *Model) Gradient(over []Hyperparameter, byMatrix blas64.General, byFactor float64,
	byLoss []float64) (gradient []float64) {
	var byKernel kernel.Spec
	if m.inputs == nil {
		byKernel = m.Kernel.Gradient(m.Gram(), byMatrix)
	} else {
		byKernel = m.inputs.Gradient(byMatrix)
	}
	for _, h := range over {
		if slope := byKernel.Named(h.Name, h.Feature); slope != nil {
			gradient = append(gradient, *slope)
		} else if power := h.Factor(); power != 0 {
			gradient = append(gradient, power*byFactor)
		} else {
			gradient, byLoss = append(gradient, byLoss[0]), byLoss[1:]
		}
	}
	return gradient
}
