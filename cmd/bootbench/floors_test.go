package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rooms of the program itself.
const (
	usageDir   = "cmd/bootbench/internal/usage"
	helpDir    = "cmd/bootbench/internal/help"
	consoleDir = "cmd/bootbench/internal/console"
	filesDir   = "cmd/bootbench/internal/files"
	journalDir = "cmd/bootbench/internal/journal"
	valuesDir  = "cmd/bootbench/internal/values"
)

// floors says which packages of this module each package may import: only
// floors below its own. Tests may import what they like, so that the agreement
// of packages that do not know each other can be tested.
var floors = map[string][]string{
	"blas":           {},
	"blas/scalapack": {},
	"dataset":        {},
	"resample":       {},
	"calibration":    {"dataset", "internal/null", "loss"},
	"linalg":         {"blas", "linalg/internal/core"},
	"loss": {"blas", "loss/internal/counts", "loss/internal/normal", "loss/internal/quadrature",
		"resample"},
	"kernel":        {"linalg"},
	"train":         {"blas", "linalg"},
	"gp":            {"blas", "linalg", "train"},
	"svm":           {"blas", "linalg", "train"},
	"erm":           {"blas", "linalg", "train"},
	"solver":        {"blas", "linalg", "loss", "resample"},
	"batch":         {"linalg", "loss", "train"},
	"retrain":       {"batch", "blas", "erm", "gp", "linalg", "loss", "resample", "svm", "train"},
	"multifidelity": {"linalg", "loss", "resample", "retrain", "solver"},
	"loo":           {"blas", "gp", "linalg", "svm", "train"},
	"model": {"batch", "calibration", "dataset", "erm", "gp", "kernel", "linalg", "linalg/dist", "loo",
		"loss", "multifidelity", "resample", "retrain", "solver", "svm", "train"},
	"tune": {"linalg", "dataset", "gp", "kernel", "loss", "model", "resample", "solver"},
	"bench": {"blas", "dataset", "gp", "internal/null", "kernel", "linalg", "loo", "loss", "model",
		"resample", "retrain", "solver", "svm"},
	"internal/null": {},
	"bench/paper":   {"dataset", "kernel", "loss", "model", "resample", "retrain", "solver"},
	"report": {"bench", "bench/paper", "blas", "calibration", "dataset", "internal/null", "kernel", "linalg",
		"loss", "solver"},
	usageDir:   {},
	helpDir:    {},
	consoleDir: {},
	filesDir:   {},
	journalDir: {usageDir},
	valuesDir:  {usageDir},
	".":        {"dataset", "kernel", "loss", "model", "resample", "retrain", "solver", "tune"},
	"cmd/bootbench": {"batch", "bench", "bench/paper", "blas", "blas/scalapack", "calibration", "internal/null",
		consoleDir, filesDir, helpDir, journalDir, usageDir, valuesDir, "dataset", "gp", "kernel",
		"linalg", "linalg/dist", "loo", "loss", "model", "multifidelity", "report", "resample", "retrain", "solver",
		"svm", "train", "tune"},
	"cmd/experiments": {"bench", "bench/paper", "blas", "dataset", "kernel", "loss", "model", "report",
		"resample",
		"solver"},

	"linalg/dist":          {"blas", "linalg", "linalg/internal/core"},
	"linalg/dist/disttest": {"blas", "linalg", "linalg/dist"}, // for tests of linalg and model
	"linalg/internal/core": {"blas"},

	"loss/internal/counts":     {"resample"},
	"loss/internal/normal":     {"loss/internal/quadrature"},
	"loss/internal/quadrature": {},

	"internal/fixedseed": {}, // these two for tests
	"internal/need":      {},
}

func TestImportsPointDown(t *testing.T) {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(relative))
		allowed, known := floors[folder]
		if !known {
			t.Errorf("%s: folder %s has no floor", relative, folder)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if below, own := strings.CutPrefix(name, "bootbench/"); own && !slices.Contains(allowed, below) {
				t.Errorf("%s imports %s, which is not below it", relative, below)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
