package bootbench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the packages of the module from the ground up: a package imports only packages of lower floors.
// Tests import what they like, so that packages that do not know each other can be compared.
var floors = [][]string{
	{"blas", "internal/testutil",
		"loss/internal/normal", "resample", "cmd/bootbench/internal/console", "cmd/bootbench/internal/files",
		"cmd/bootbench/internal/flags", "cmd/bootbench/internal/usage"},
	{"linalg/internal/core", "loss/internal/counts", "cmd/bootbench/internal/journal"},
	{"linalg"},
	{"internal/dataset", "kernel", "linalg/scalapack", "loss", "train"},
	{"solver/internal/linear", "solver/site", "train/internal/workspace"},
	{"linalg/scalapack/gridtest", "solver", "train/erm", "train/gp", "train/svm"},
	{"train/machine"},
	{"fits", "internal/report", "solver/adjoint"},
	{"internal/calibration"},
	{"internal/leaveout"},
	{"internal/model"},
	{"internal/tune"},
	{"bench"},
	{"internal/answer"},
	{"."},
	{"cmd/bootbench", "cmd/experiments"},
}

// floorOf is the number of a package's floor, -1 for none.
func floorOf(folder string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, folder) })
}

func TestImportsPointDown(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		floor := floorOf(filepath.ToSlash(filepath.Dir(path)))
		if floor < 0 {
			t.Errorf("%s: its folder has no floor", path)
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
			below, own := strings.CutPrefix(name, "bootbench")
			if below = strings.TrimPrefix(below, "/"); below == "" {
				below = "."
			}
			if own && floorOf(below) >= floor {
				t.Errorf("%s imports %s, which is not below it", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPublicSignatures: functions, fields and methods that other modules can use have no types of internal
// packages, which they could not name. The root package has names for those that it takes and returns; bench
// is for this program's own benchmarks.
func TestPublicSignatures(t *testing.T) {
	for _, folder := range slices.Concat(floors...) {
		if folder == "." || folder == "bench" || strings.HasPrefix(folder, "cmd/") ||
			strings.Contains("/"+folder, "/internal/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, "_test.go") || !ast.FileExports(file) {
				continue
			}
			internal := map[string]bool{}
			for _, spec := range file.Imports {
				name := strings.Trim(spec.Path.Value, `"`)
				internal[name[strings.LastIndex(name, "/")+1:]] = strings.Contains(name, "/internal/")
			}
			for _, declaration := range file.Decls {
				if function, is := declaration.(*ast.FuncDecl); is {
					function.Body = nil
				}
				ast.Inspect(declaration, func(n ast.Node) bool {
					if of, is := n.(*ast.SelectorExpr); is {
						if name, is := of.X.(*ast.Ident); is && internal[name.Name] {
							t.Errorf("%s: %s.%s", set.Position(of.Pos()), name, of.Sel)
						}
					}
					return true
				})
			}
		}
	}
}
