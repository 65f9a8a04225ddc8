package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/internal/dataset"
	"bootbench/linalg"
)

// dataFlags say how DATA and new inputs are read.
type dataFlags struct {
	target            string
	drop, categorical []string
	noHeader          bool
	missing           dataset.Missing
	positive          string
	unseen            string
	zeroBased         bool
}

// dataFlagNames are flags that decide what is read.
var dataFlagNames = []string{"target", "drop", "categorical", "no-header", "missing", "positive", "unseen",
	"zero-based"}

func (d *dataFlags) register(f *pflag.FlagSet) {
	f.StringVar(&d.target, "target", "", "column of the target, its `NAME` or number from 1; default: the last")
	f.StringSliceVar(&d.drop, "drop", nil,
		"columns to leave out, `NAMES` or numbers from 1, separated by commas; default: none")
	f.StringSliceVar(&d.categorical, "categorical", nil,
		"columns whose numbers are codes of categories, `NAMES` or numbers from 1, separated by commas: they "+
			"become indicators, as texts do; default: none")
	f.BoolVar(&d.noHeader, "no-header", false,
		"take the first line of a table for an example; default: detected")
	f.TextVar(&d.missing, "missing", dataset.MissingError,
		"what to do about missing cells (empty, NA, N/A, NaN, null, ?): `HOW` is error, drop (the row), mean (of "+
			"the column) or indicator (the mean, and a feature that says so); default: error")
	f.Lookup("missing").DefValue = ""
	f.StringVar(&d.positive, "positive", "",
		"`LABEL` of the class +1, as DATA writes it, against all others; default: the larger of two numbers, the "+
			"later of two texts")
	f.BoolVar(&d.zeroBased, "zero-based", false, "indices of sparse lines count from 0; default: from 1")
}

// registerUnseen adds what only commands with new inputs take.
func (d *dataFlags) registerUnseen(f *pflag.FlagSet) {
	f.StringVar(&d.unseen, "unseen", "error",
		"what to do about texts of new inputs that DATA lacks: `HOW` is error or zero (none of the texts of "+
			"DATA)")
}

// leastRoom is what inputs may always take.
const leastRoom = 64 << 20

// options say how DATA is read. Without a limit of memory the inputs may take a third of what is left:
// reading takes twice the inputs.
func (m *modelFlags) options(stdin io.Reader) dataset.Options {
	d, maxBytes := &m.dataFlags, int64(m.maxMemory)
	if left, known := linalg.AvailableMemory(); known && maxBytes == 0 {
		maxBytes = max(leastRoom, left/3)
	}
	return dataset.Options{
		MaxBytes: maxBytes, Stdin: stdin, Target: d.target, Drop: d.drop, Categorical: d.categorical,
		NoHeader: d.noHeader, Missing: d.missing,
		Positive: d.positive, UnseenZero: d.unseen == "zero", ZeroBased: d.zeroBased,
	}
}

// reading are the flags that were given of those that decide what is read of DATA, as name=value.
func (m *modelFlags) reading() (given []string) {
	for _, setting := range givenSettings(m.flags) {
		if name, _, _ := strings.Cut(setting, "="); slices.Contains(dataFlagNames, name) {
			given = append(given, setting)
		}
	}
	return given
}

// readAs are flags that read DATA as an answer says that it did.
func readAs(reading []string) (d dataFlags, err error) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	d.register(f)
	for _, given := range reading {
		name, value, _ := strings.Cut(given, "=")
		err = cmp.Or(err, f.Set(name, value))
	}
	return d, err
}
