package flags

import (
	"cmp"
	"fmt"
	"slices"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// columns is the width of a page of help.
const columns = 80

// first are the most important flags: the only ones that --help shows for a command with many.
var first = []string{"test", "over", "model", "target", "loss", "noise", "C", "kernel", "gamma", "ratio",
	"refine", "method", "json", "out"}

// usagePage follows the description of a command: usage, examples, subcommands and flags.
var usagePage = template.Must(template.New("usage").Parse(`Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND [DATA] [flags]{{else}}{{.UseLine}}{{end}}
{{with .Example}}
Examples:
{{.}}
{{end}}{{range $group := .Groups}}
{{.Title}}
{{range $.Commands}}{{if and (eq .GroupID $group.ID) (not .Hidden)}}  {{printf "%-12s%s" .Name .Short}}
{{end}}{{end}}{{end}}{{.Listed}}{{if .HasAvailableSubCommands}}
{{.CommandPath}} COMMAND --help tells more of a command.
{{end}}`))

// Usage prints usagePage with all flags of a command or with the most important ones.
func Usage(c *cobra.Command, all bool) error {
	return usagePage.Execute(c.OutOrStderr(), struct {
		*cobra.Command
		Listed string
	}{c, list(c, all)})
}

// few is the number of flags up to which --help prints all.
const few = 15

// list prints the flags of a command by group: all, or the most important ones of many.
func list(c *cobra.Command, all bool) (text string) {
	const others = "Output" // for cobra's flags
	groups, titles, count := map[string]*pflag.FlagSet{}, []string{}, 0
	add := func(title string, f *pflag.Flag) {
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title].SortFlags = false
			titles = append(titles, title)
		}
		groups[title].AddFlag(f)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			count++
		}
	})
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
		text += fmt.Sprintf("\n%s:\n%s", title, groups[title].FlagUsagesWrapped(columns))
	}
	if !all && count > few {
		text += fmt.Sprintf("\n%s --help-all lists all %d flags.\n", c.CommandPath(), count)
	}
	return text
}

// Describe prints the description of a command and its usage.
func Describe(c *cobra.Command, all bool) {
	fmt.Fprintf(c.OutOrStdout(), "%s\n\n", cmp.Or(c.Long, c.Short))
	if c.Runnable() || c.HasAvailableSubCommands() {
		Usage(c, all)
	}
}
