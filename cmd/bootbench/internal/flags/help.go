package flags

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// columns is the width of a page of help.
const columns = 80

// first are the flags that people need first: all that --help shows of a command with many.
var first = []string{"test", "over", "model", "target", "loss", "noise", "C", "kernel", "gamma", "ratio",
	"refine", "method", "json", "out"}

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
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, below := range c.Commands() {
			if below.GroupID == g.ID && !below.Hidden {
				fmt.Fprintf(&b, "  %-12s%s\n", below.Name(), below.Short)
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
// first of them.
func flags(b *strings.Builder, c *cobra.Command, all bool) {
	const others = "Output" // cobra's own
	groups, titles, count := map[string]*pflag.FlagSet{}, []string{}, 0
	add := func(title string, f *pflag.Flag) {
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title].SortFlags = false
			titles = append(titles, title)
		}
		groups[title].AddFlag(f)
	}
	c.Flags().VisitAll(func(*pflag.Flag) { count++ })
	for _, name := range first {
		if f := c.Flags().Lookup(name); f != nil {
			add("Flags", f)
		}
	}
	if all || count <= few {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(first, f.Name) {
				add(append(f.Annotations[groupKey], others)[0], f)
			}
		})
	}
	for _, title := range titles {
		fmt.Fprintf(b, "\n%s:\n%s", title, groups[title].FlagUsagesWrapped(columns))
	}
	if !all && count > few {
		fmt.Fprintf(b, "\n%s --help-all lists all %d flags.\n", c.CommandPath(), count)
	}
}

// Describe prints the description of a command and its usage.
func Describe(c *cobra.Command, all bool) {
	fmt.Fprintf(c.OutOrStdout(), "%s\n\n", cmp.Or(c.Long, c.Short))
	if c.Runnable() || c.HasAvailableSubCommands() {
		Usage(c, all)
	}
}
