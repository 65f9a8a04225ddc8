package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/train"
)

// elsewhere are flags by the names that other programs have for them.
var elsewhere = map[string]string{
	"alpha": "noise", "lambda": "noise", "sigma": "length-scale", "cost": "C", "cv": "folds",
	"weight": "class-weight", "weights": "class-weight", "scale-pos-weight": "class-weight", "label": "target",
	"labels": "target",
	"n-jobs": "threads", "random-state": "seed", "output": "out", "bootstrap": "resamples",
	"checkpoint": "journal", "resume": "journal",
}

// flagError says what is wrong with a flag, and leads to what is right.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
		return usage.Errorf("unknown flag: -%s%s", name, meant(c, name))
	case errors.As(err, &unknown):
		return usage.Errorf("unknown flag: --%s%s", unknown.GetSpecifiedName(),
			meant(c, unknown.GetSpecifiedName()))
	case errors.As(err, &invalid):
		return wrongValue(invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap())
	}
	return err
}

// meant says which flag an unknown one may have meant.
func meant(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if other := elsewhere[name]; slices.Contains(names, other) {
		return fmt.Sprintf("; it is called --%s here", other)
	}
	if slices.Contains(names, name) {
		return "; flags begin with two dashes"
	}
	if near := usage.Nearest(name, names...); near != "" {
		return near
	}
	for _, other := range c.Root().Commands() {
		if other.Flags().Lookup(name) != nil {
			return fmt.Sprintf("; it is one of %s, not of %s", other.Name(), c.Name())
		}
	}
	return fmt.Sprintf("; %s --help lists the flags", c.CommandPath())
}

// wrongValue says what a flag takes instead of a value.
func wrongValue(f *pflag.Flag, value string, reason error) error {
	number := map[string]string{"float64": "a number", "int": "a whole number",
		"uint64":   "a whole number of at least 0",
		"variance": "a number, or a share of the target's variance such as 10%"}[f.Value.Type()]
	switch {
	case number == "":
		return usage.Errorf("--%s: %w", f.Name, reason)
	case f.Name == "gamma" && (value == "scale" || value == "auto"):
		return usage.Errorf("--gamma takes a number, not %q: in scikit-learn that is 1/d for d standardised "+
			"features; without --loss and --gamma one is chosen", value)
	case strings.ContainsAny(value, ",:") && f.Name == "ratio":
		return usage.Errorf("--ratio takes one number, not %q; curve DATA --ratio %s computes all", value, value)
	case strings.ContainsAny(value, ",:") && slices.Contains(gridNames(), f.Name):
		return usage.Errorf("--%s takes one number, not %q; grid DATA --over %s=%s computes all", f.Name, value,
			f.Name, value)
	}
	return usage.Errorf("--%s takes %s, not %q", f.Name, number, value)
}

// cure is what the command line can add to the reason of a failure.
func cure(c *cobra.Command, err error) string {
	given := func(name string) string {
		if f := c.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	switch {
	case errors.Is(err, train.ErrDiverged) && given("kernel") != kernel.RBF.String():
		return fmt.Sprintf(": --loss hinge --C 1, --kernel rbf, which separates more than %s, or --jitter",
			given("kernel"))
	case errors.Is(err, train.ErrDiverged):
		return ": --loss hinge --C 1, or --jitter"
	case errors.Is(err, linalg.ErrMemory) && given("max-memory") != "":
		return " (--max-memory)"
	}
	if data, _, ok := strings.Cut(err.Error(), ": neither a file nor"); ok {
		return usage.Nearest(data, dataset.Names()...)
	}
	return ""
}
