package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/train"
	"bootbench/linalg"
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
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usage.Errorf("unknown flag: -%s; flags begin with two dashes", unknown.GetSpecifiedShortnames())
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
	if near := usage.Nearest(name, names...); near != "" {
		return near
	}
	return fmt.Sprintf("; %s --help-all lists the flags", c.CommandPath())
}

// wrongValue says what a flag takes instead of a value. Errors of package flags go on where its name ends.
func wrongValue(f *pflag.Flag, value string, reason error) error {
	takes := map[string]string{"uint64": "a whole number of at least 0", "bool": "true or false",
		"intSlice": "whole numbers separated by commas", "stringSlice": "texts separated by commas"}[f.Value.Type()]
	if takes == "" {
		return usage.Errorf("--%s %w", f.Name, reason)
	}
	return usage.Errorf("--%s takes %s, not %q", f.Name, takes, value)
}

// cure is what the command line can add to the reason of a failure.
func cure(c *cobra.Command, err error) string {
	limit := c.Flags().Lookup("max-memory")
	switch {
	case errors.Is(err, train.ErrDiverged):
		return ": --loss hinge --C 1, a kernel that separates more, or --jitter"
	case errors.Is(err, linalg.ErrMemory) && limit != nil && limit.Changed:
		return " (--max-memory)"
	}
	if data, _, ok := strings.Cut(err.Error(), ": neither a file nor"); ok {
		return usage.Nearest(data, dataset.Names()...)
	}
	return ""
}
