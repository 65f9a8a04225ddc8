// Package help lays out the help of commands in 80 columns, flags in groups, and
// suggests what a word may have meant.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// columns is the width of a page of help.
const columns = 80

// group is a part of the flags in the help.
type group struct {
	title string
	names []string
}

// groups are all flags in the order of the help. Those in the first are what people need
// first; of a name in two groups the first counts.
var groups = []group{
	{"Flags", []string{"test", "over", "model", "target", "loss", "noise", "C", "kernel", "gamma",
		"ratio", "refine", "method", "json", "out"}},
	{"Data", []string{"positive", "drop", "categorical", "missing", "no-header", "unseen", "zero-based",
		"no-standardize", "no-normalize-target", "export", "sizes"}},
	{"Model", []string{"class-weight", "epsilon", "delta", "bias", "no-bias"}},
	{"Kernel", []string{"length-scale", "ard", "degree", "coef0", "amplitude", "constant", "jitter"}},
	{"Resampling", []string{"scheme", "folds", "resamples", "seed", "workers", "accuracy",
		"models"}},
	{"Solving", []string{"tol", "max-sweeps", "by", "starts", "engine", "rank-tol", "rank-error",
		"max-rank", "max-memory", "threads", "backend",
		"journal", "shard", "shards"}},
	{"Output", []string{"test-loss", "format", "level", "interval", "residuals", "quantiles",
		"covariance", "metrics", "no-points", "csv", "replicates", "quiet", "help", "help-all", "version"}},
	{"Profiling", []string{"cpuprofile", "memprofile"}},
}

// Usage prints what follows the description of a command: how it is called, examples,
// the commands below it and its flags, all of them or those needed first.
func Usage(c *cobra.Command, all bool) error {
	var b strings.Builder
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND [DATA] [flags]"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if c.Example != "" {
		b.WriteString("\nExamples:\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString(fold(strings.TrimSpace(line), "  ", "      ", ` \`))
		}
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, below := range c.Commands() {
			if below.GroupID == g.ID && !below.Hidden {
				b.WriteString(fold(below.Short, fmt.Sprintf("  %-12s", below.Name()), strings.Repeat(" ", 14), ""))
			}
		}
	}
	flags(&b, c, all)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help tells more of a command.\n", c.CommandPath())
	}
	_, err := io.WriteString(c.OutOrStderr(), b.String())
	return err
}

// few is the number of flags that are printed by --help, too.
const few = 15

// flags prints the flags of a command, group by group; if there are many and not all are asked for, the
// first group.
func flags(b *strings.Builder, c *cobra.Command, all bool) {
	count := 0
	c.Flags().VisitAll(func(*pflag.Flag) { count++ })
	shown := groups
	if !all && count > few {
		shown = groups[:1]
		defer func() { fmt.Fprintf(b, "\n%s --help-all lists all %d flags.\n", c.CommandPath(), count) }()
	}
	for _, g := range shown {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range g.names {
			if f := c.Flags().Lookup(name); f != nil && set.Lookup(name) == nil {
				set.AddFlag(f)
			}
		}
		if set.HasFlags() {
			fmt.Fprintf(b, "\n%s:\n%s", g.title, set.FlagUsagesWrapped(columns))
		}
	}
}

// Ungrouped are the flags of a command that have no group.
func Ungrouped(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.ContainsFunc(groups,
			func(g group) bool { return slices.Contains(g.names, f.Name) }) {
			names = append(names, f.Name)
		}
	})
	return names
}

// Describe prints the description of a command and its usage.
func Describe(c *cobra.Command, all bool) {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") { // a list
			fmt.Fprintf(c.OutOrStdout(), "%s\n\n", paragraph)
			continue
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n", fold(paragraph, "", "", ""))
	}
	if c.Runnable() || c.HasAvailableSubCommands() {
		Usage(c, all)
	}
}

// fold breaks words into lines, the first after lead and the others after indent; all but
// the last end with more.
func fold(text, lead, indent, more string) string {
	var b strings.Builder
	line := lead
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case len(line)+1+len(word)+len(more) > columns:
			b.WriteString(line + more + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}
