package main

import (
	"io"
	"strings"
)

// fields are the fields of Go that messages of the library name, and what sets each on the command line.
var fields = []struct{ name, flag string }{
	{"ReadOptions.As", "--task"},
	{"ReadOptions.Categorical", "--categorical"},
	{"ReadOptions.Counts", "--counts"},
	{"ReadOptions.Drop", "--drop"},
	{"ReadOptions.Folds", "--fold-column"},
	{"ReadOptions.Groups", "--groups"},
	{"ReadOptions.MaxBytes", "--max-memory"},
	{"ReadOptions.Missing", "--missing"},
	{"ReadOptions.NA", "--na"},
	{"ReadOptions.NoHeader", "--no-header"},
	{"ReadOptions.Positive", "--positive"},
	{"ReadOptions.Strata", "--strata"},
	{"ReadOptions.Target", "--target"},
	{"ReadOptions.UnseenZero", "--unseen zero"},
	{"ReadOptions.Weights", "--weights"},
	{"Spec.Bias false", "--no-bias"},
	{"Spec.Loss", "--loss"},
	{"Spec.Measure", "--judge"},
	{"Spec.Storage", "--engine"},
	{"Kernel.Constant", "--constant"},
	{"Kernel.Jitter", "--jitter"},
	{"Hinge.C", "--C"},
	{"Square.Noise", "--noise"},
	{"Options.Scheme", "--scheme"},
	{"Options.Sets", "--sets"},
	{"Options.TheoryAlone", "--refine none"},
	{"Folds.Choose", "--nested"},
	{"Folds.Design.Block", "--blocks"},
	{"Folds.Folds", "--folds"},
	{"Folds.Permutations", "--permutations"},
	{"Trained.Write", "--format json"},
	{"Question.Metrics", "--metrics"},
	{"Question.Quantiles", "--quantiles"},
	{"Question.Theory", "--method theory"},
	{"Study.Others=nil", "--sample all"},
	{"Sheet.Table", "--csv FILE"},
}

// flagOf replaces fields by flags. A field follows a blank or a bracket: a column of DATA may have its name.
var flagOf = func() *strings.Replacer {
	var pairs []string
	for _, f := range fields {
		pairs = append(pairs, " "+f.name, " "+f.flag, "("+f.name, "("+f.flag)
	}
	return strings.NewReplacer(pairs...)
}()

// inFlags is a message with flags in place of fields.
func inFlags(text string) string { return flagOf.Replace(" " + text)[1:] }

// flagWriter writes texts with flags in place of fields.
type flagWriter struct{ io.Writer }

func (w flagWriter) Write(text []byte) (int, error) {
	_, err := io.WriteString(w.Writer, inFlags(string(text)))
	return len(text), err
}
