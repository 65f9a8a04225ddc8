package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"bootbench/cmd/bootbench/internal/usage"
)

// manCommand writes the manual pages by cobra's generator (make man).
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages, one for each command, to a folder", Hidden: true,
		Example: `  bootbench man manual`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Errorf("man takes one folder, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			pages := newRoot(a)
			forManual(pages)
			return doc.GenManTree(pages, &doc.GenManHeader{Section: "1", Source: "bootbench " + version(),
				Manual: "User commands"}, args[0])
		},
	}
}

// forManual makes of the descriptions of a command and those below it what the generator takes, Markdown:
// lists, whose lines are to stay, become blocks of code.
func forManual(c *cobra.Command) {
	c.DisableAutoGenTag = true
	paragraphs := strings.Split(c.Long, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		}
	}
	c.Long = strings.Join(paragraphs, "\n\n")
	for _, below := range c.Commands() {
		forManual(below)
	}
}
