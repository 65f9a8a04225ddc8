package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestBridges runs the programs of doc/python.md and doc/r.md where their interpreters and libraries are
// there, and without -short scikit-learn's checks of the estimators. What they call is this test binary.
func TestBridges(t *testing.T) {
	if args, ok := os.LookupEnv("BOOTBENCH_ARGS"); ok {
		os.Exit(run(t.Context(), strings.Split(args, "\x1f"), os.Stdin, os.Stdout, os.Stderr))
	}
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	python := bridge{"python", []string{"python3", "/usr/bin/python3"}, []string{"-c", "import sklearn"}}
	r := bridge{"r", []string{"Rscript"}, []string{"-e", "library(jsonlite)"}}
	t.Run("python.md", func(t *testing.T) {
		python.runs(t, programOf(t, "python.md", "python"), "mean square error ", "'--noise'", "between [[",
			"probabilities of ['high' 'low'] [[", "accuracy ", "left-out error ", "worst row ", "covariance ")
	})
	t.Run("r.md", func(t *testing.T) {
		r.runs(t, programOf(t, "r.md", "r"), "left-out error ", "theory ", "worst row ")
	})
	t.Run("check_estimator", func(t *testing.T) {
		if testing.Short() {
			t.Skip("some 300 runs")
		}
		python.runs(t, "from bootbench import *\nfrom sklearn.utils.estimator_checks import check_estimator\n"+
			"check_estimator(BootbenchRegressor())\ncheck_estimator(BootbenchClassifier())\nprint('passed')\n",
			"passed")
	})
}

// programOf are the blocks of a page in a language.
func programOf(t *testing.T, page, language string) string {
	text := need.One(os.ReadFile("../../doc/" + page))(t)
	program := ""
	for _, b := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text),
		-1) {
		program += b[1]
	}
	return program
}

// bridge is a language: the interpreters to try, and arguments that succeed where its library is there.
type bridge struct {
	name         string
	interpreters []string
	probe        []string
}

// runs runs a program beside houses.csv and a command bootbench, and wants its output to hold all of says.
func (b bridge) runs(t *testing.T, program string, says ...string) {
	at := slices.IndexFunc(b.interpreters, func(name string) bool {
		return exec.Command(name, b.probe...).Run() == nil
	})
	if at < 0 {
		t.Skip("not installed: " + b.probe[1])
	}
	dir, order := t.TempDir(), make([]int, 60)
	for i := range order {
		order[i] = i
	}
	if err := os.Rename(houses(t, "houses.csv", order), filepath.Join(dir, "houses.csv")); err != nil {
		t.Fatal(err)
	}
	// The arguments travel as one variable: the flags of a test binary are its own.
	shim := "#!/bin/sh\nfor a; do args=\"$args${args:+$(printf '\\037')}$a\"; done\n" +
		"BOOTBENCH_ARGS=\"$args\" exec " + shellWords(need.One(filepath.Abs(os.Args[0]))(t)) +
		" -test.run '^TestBridges$'\n"
	if err := os.WriteFile(filepath.Join(dir, "bootbench"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "program")
	if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(b.interpreters[at], script)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+need.One(filepath.Abs("../../doc"))(t))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range says {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}
