package dataset

import (
	"fmt"
	"slices"
)

// several makes more than two classes of targets with these names, in order: Y numbers them from 0.
func (s *Set) several(names []string, texts bool, name func(target float64) string) {
	y := make([]float64, len(s.Y))
	for i, v := range s.Y {
		y[i] = float64(slices.Index(names, name(v)))
	}
	s.Y, s.Classes, s.textClasses, s.Task = y, slices.Clone(names), texts, Several
	s.Notes = append(slices.Clone(s.Notes), fmt.Sprintf("%d classes of %s: %s", len(names), quote(s.Target),
		listTexts(names)))
}

// Against is a set of several classes with class k, from 0, as the label +1, and all others as -1. It shares
// the inputs.
func (s *Set) Against(k int) *Set {
	one := *s
	one.Classes, one.Task, one.Y = nil, Classification, make([]float64, len(s.Y))
	one.Labels = &Labels{Classes: Classes{"not " + s.Classes[k], s.Classes[k]}, Texts: s.textClasses, Rest: true}
	for i, v := range s.Y {
		one.Y[i] = -1
		if int(v) == k {
			one.Y[i] = 1
		}
	}
	return &one
}

// ClassOf numbers the classes of the examples.
func (s *Set) ClassOf() []int {
	class := make([]int, len(s.Y))
	for i, v := range s.Y {
		class[i] = int(v)
	}
	return class
}

// severalClasses is the number of whole targets up to which numbers may be classes.
const severalClasses = 10

// askClasses notes that numbers look like names of classes.
func (s *Set) askClasses() {
	names := s.values()
	if len(names) < 3 || len(names) > severalClasses {
		return
	}
	for _, v := range s.Y {
		if v != float64(int(v)) {
			return
		}
	}
	s.Notes = append(slices.Clone(s.Notes), fmt.Sprintf("the targets are %d whole numbers and are taken for "+
		"quantities; classes? --task %s", len(names), Classification))
}

// applyClasses numbers targets of new inputs by the classes of the training set.
func (e *Encoding) applyClasses(y []float64, name func(target float64) string) ([]float64, error) {
	class := make([]float64, len(y))
	for i, v := range y {
		k := slices.Index(e.Classes, name(v))
		if k < 0 {
			return nil, place{unit: "row", number: i + 1}.error("", fmt.Errorf("target %s is none of the classes %s",
				quote(name(v)), listTexts(e.Classes)))
		}
		class[i] = float64(k)
	}
	return class, nil
}
