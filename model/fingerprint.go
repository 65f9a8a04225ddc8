package model

import (
	"fmt"
	"strconv"
	"strings"

	"bootbench/loss"
	"bootbench/resample"
)

// Setting is one of the things that decide an answer, by the name of its flag on the
// command line.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Fingerprint lists the settings that decide an answer, defaults written out. Two
// answers with equal fingerprints are the same; results that are kept, in parts of a
// study, checkpoints and caches, are kept under it.
type Fingerprint []Setting

// Fingerprint lists what decides the model: the data, the loss, the kernel and how
// its matrix is held.
func (s *Spec) Fingerprint() Fingerprint {
	k := s.Kernel.WithDefaults(s.Set.D())
	f := append(Fingerprint{{"data", s.Set.Digest()}}, lossSettings(s.Loss)...).
		With("--kernel", k.Kind).With("--gamma", k.Gamma).With("--length-scale", k.LengthScale).With("--degree",
		k.Degree).With("--coef0", k.Coef0).
		With("--amplitude", k.Amplitude).With("--constant", k.Constant).With("--jitter",
		k.Jitter).With("--no-standardize", !s.Standardize).
		With("--engine", s.Storage).With("--rank-tol", s.RankTol).With("--rank-error",
		s.RankError).With("--max-rank", s.MaxRank).With("rank", s.Rank)
	if s.Bias {
		f = f.With("--bias", true)
	}
	if s.NormalizeTarget {
		f = f.With("normalized target", true)
	}
	return f
}

// lossSettings are the name of a loss and its parameters.
func lossSettings(l loss.Loss) Fingerprint {
	f := Fingerprint{}.With("--loss", l.Name())
	p, known := loss.ParametersOf(l)
	if !known {
		return f.With("parameters", fmt.Sprintf("%+v", l))
	}
	about, _ := loss.About(l.Name())
	for _, name := range about.Takes {
		f = f.With("--"+name, *p.Named(name))
	}
	if p.ClassWeight(-1) != 1 || p.ClassWeight(1) != 1 {
		f = f.With("--class-weight", []float64{p.Negative, p.Positive})
	}
	return f
}

// WithScheme adds how examples are redrawn.
func (f Fingerprint) WithScheme(s resample.Scheme) Fingerprint {
	f = f.With("--scheme", s.Name())
	if kfold, ok := s.(resample.KFold); ok {
		return f.With("--folds", kfold.Folds)
	}
	return f.With("--ratio", s.Mean())
}

// With adds a setting. Numbers are written with all their digits, lists without
// brackets.
func (f Fingerprint) With(name string, value any) Fingerprint {
	text := ""
	switch v := value.(type) {
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	case []float64:
		text = strings.Trim(fmt.Sprint(v), "[]")
	default:
		text = fmt.Sprint(v)
	}
	return append(f[:len(f):len(f)], Setting{name, text})
}

// String is the fingerprint on one line.
func (f Fingerprint) String() string {
	words := make([]string, len(f))
	for i, s := range f {
		words[i] = fmt.Sprintf("%s=%q", s.Name, s.Value)
	}
	return strings.Join(words, " ")
}

// Changes says in words which settings of f were others before.
func (f Fingerprint) Changes(before Fingerprint) []string {
	was, is := before.byName(), f.byName()
	var changes []string
	for _, s := range f {
		if v, ok := was[s.Name]; !ok || v != s.Value {
			changes = append(changes, fmt.Sprintf("%s is %s, was %s", s.Name, quote(s.Value, true), quote(v, ok)))
		}
	}
	for _, s := range before {
		if _, ok := is[s.Name]; !ok {
			changes = append(changes, fmt.Sprintf("%s is %s, was %s", s.Name, quote("", false), quote(s.Value, true)))
		}
	}
	return changes
}

func (f Fingerprint) byName() map[string]string {
	byName := map[string]string{}
	for _, s := range f {
		byName[s.Name] = s.Value
	}
	return byName
}

// quote is the value of a setting, which may not be set or be empty.
func quote(value string, set bool) string {
	switch {
	case !set:
		return "not set"
	case value == "":
		return "empty"
	}
	return value
}
