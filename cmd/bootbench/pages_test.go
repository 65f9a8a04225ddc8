package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"bootbench/internal/need"
)

// TestPages: what README and the pages of doc link to is there, and the commands and flags
// that they name exist.
func TestPages(t *testing.T) {
	const root = "../.."
	pages, err := filepath.Glob(root + "/doc/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatal(pages, err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	line := regexp.MustCompile("bootbench ([a-z]+)([^`\n|]*)")
	flag := regexp.MustCompile(`--([A-Za-z][A-Za-z0-9-]*)`)
	checked := 0
	for _, page := range append(pages, root+"/README.md", root+"/CONTRIBUTING.md", root+"/SECURITY.md") {
		text := need.One(os.ReadFile(page))(t)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, found := range line.FindAllStringSubmatch(string(text), -1) {
			at := slices.IndexFunc(commands(), func(c *cobra.Command) bool { return c.Name() == found[1] })
			if at < 0 {
				continue // prose
			}
			for _, name := range flag.FindAllStringSubmatch(found[2], -1) {
				c := commands()[at]
				c.InheritedFlags()
				checked++
				if c.Flags().Lookup(name[1]) == nil {
					t.Errorf("%s: bootbench %s has no --%s", page, found[1], name[1])
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d flags were found", checked)
	}
}
