package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestBridges runs the programs of doc/python.md and doc/r.md where their interpreters and
// libraries are there. What they call is this test binary.
func TestBridges(t *testing.T) {
	if args, ok := os.LookupEnv("BOOTBENCH_ARGS"); ok {
		os.Exit(run(t.Context(), strings.Split(args, "\x1f"), os.Stdin, os.Stdout, os.Stderr))
	}
	self := need.One(filepath.Abs(os.Args[0]))(t)
	for _, c := range []struct {
		page, language, interpreter, needs string
		says                               []string
	}{
		{"python.md", "python", "python3", "import numpy", []string{"left-out error ", "theory ",
			"'loss': 'square'", "worst row ", "mean [", "covariance "}},
		{"r.md", "r", "Rscript", "library(jsonlite)", []string{"left-out error ", "theory ", "worst row "}},
	} {
		t.Run(c.page, func(t *testing.T) {
			interpreter, err := exec.LookPath(c.interpreter)
			if err != nil {
				t.Skip("there is no " + c.interpreter)
			}
			text := need.One(os.ReadFile("../../doc/" + c.page))(t)
			dir, says := t.TempDir(), c.says
			blocks := regexp.MustCompile("(?s)```"+c.language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
			if exec.Command(interpreter, map[string]string{"python3": "-c", "Rscript": "-e"}[c.interpreter],
				c.needs).Run() != nil {
				if c.interpreter == "Rscript" {
					t.Skip("there is no jsonlite")
				}
				t.Log("there is no NumPy: the part without arrays")
				blocks, says = blocks[:1], says[:4]
			}
			program := ""
			for _, b := range blocks {
				program += b[1]
			}
			order := make([]int, 60)
			for i := range order {
				order[i] = i
			}
			if err := os.Rename(houses(t, "houses.csv", order), filepath.Join(dir, "houses.csv")); err != nil {
				t.Fatal(err)
			}
			// The arguments travel as one variable: the flags of a test binary are its own.
			shim := "#!/bin/sh\nfor a; do args=\"$args${args:+$(printf '\\037')}$a\"; done\n" +
				"BOOTBENCH_ARGS=\"$args\" exec " + shellWords(self) + " -test.run '^TestBridges$'\n"
			if err := os.WriteFile(filepath.Join(dir, "bootbench"), []byte(shim), 0o755); err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(dir, "bridge")
			if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(interpreter, script)
			command.Dir, command.Env = dir,
				append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, want := range says {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
		})
	}
}
