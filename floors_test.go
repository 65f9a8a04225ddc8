package bootbench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bootbench"
	"bootbench/internal/answer"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// floors are the packages of the module from the ground up: a package imports only packages of lower floors.
// Tests import what they like, so that packages that do not know each other can be compared.
var floors = [][]string{
	{"blas", "doc", "internal/testutil",
		"loss/internal/normal", "resample", "cmd/bootbench/internal/console", "cmd/bootbench/internal/files",
		"cmd/bootbench/internal/flags", "cmd/bootbench/internal/usage", "cmd/internal/steps"},
	{"linalg/internal/core", "loss/internal/counts", "cmd/bootbench/internal/journal"},
	{"linalg"},
	{"internal/dataset", "kernel", "linalg/scalapack", "loss", "train"},
	{"solver/internal/linear", "solver/site", "train/internal/workspace",
		"internal/testutil/problems"},
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

// sources calls visit for the Go files of a folder whose names match, except tests.
func sources(t *testing.T, folder, match string, mode parser.Mode, visit func(set *token.FileSet, path string,
	file *ast.File)) {
	t.Helper()
	for _, path := range testutil.Must(filepath.Glob(filepath.Join(folder, match)))(t) {
		if set := token.NewFileSet(); !strings.HasSuffix(path, "_test.go") {
			visit(set, path, testutil.Must(parser.ParseFile(set, path, nil, mode))(t))
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	testutil.Check(t, filepath.WalkDir(".", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		floor := floorOf(filepath.ToSlash(folder))
		sources(t, folder, "*.go", parser.ImportsOnly, func(_ *token.FileSet, path string, file *ast.File) {
			if floor < 0 {
				t.Errorf("%s: its folder has no floor", path)
			}
			for _, spec := range file.Imports {
				name := testutil.Must(strconv.Unquote(spec.Path.Value))(t)
				below, own := strings.CutPrefix(name, "bootbench")
				if below = strings.TrimPrefix(below, "/"); below == "" {
					below = "."
				}
				if own && floorOf(below) >= floor {
					t.Errorf("%s imports %s, which is not below it", path, name)
				}
			}
		})
		return nil
	}))
}

// TestPublicSignatures: functions, fields and methods that other modules can use have no types of internal
// packages, which they could not name. The root package has names for those that it takes and returns; bench
// is for this program's own benchmarks.
func TestPublicSignatures(t *testing.T) {
	check := func(set *token.FileSet, _ string, file *ast.File) {
		if !ast.FileExports(file) {
			return
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
	for _, folder := range slices.Concat(floors...) {
		if folder != "." && folder != "bench" && !strings.HasPrefix(folder, "cmd/") &&
			!strings.Contains("/"+folder, "/internal/") {
			sources(t, folder, "*.go", parser.SkipObjectResolution, check)
		}
	}
}

// flag is a flag of a command line in a text, field a Go field or method as messages name it.
var (
	flag  = regexp.MustCompile(`(^|[^-\w])--[a-zA-Z]`)
	field = regexp.MustCompile(`\b(ReadOptions|Options|Spec|Kernel|Hinge|Square|Folds|Trained|Question|` +
		`Study|Sheet)((\.[A-Z]\w*)+)`)
)

// texts calls visit for the texts in the Go files of a folder that match, except tests.
func texts(t *testing.T, folder, match string, visit func(at token.Position, text string)) {
	t.Helper()
	const mode = parser.SkipObjectResolution
	sources(t, folder, match, mode, func(set *token.FileSet, _ string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
				visit(set.Position(text.Pos()), text.Value)
			}
			return true
		})
	})
}

// TestMessages: texts of the library name no flag of the command, but fields that exist, and the command has
// a flag for each.
func TestMessages(t *testing.T) {
	types := map[string]reflect.Type{
		"ReadOptions": reflect.TypeFor[bootbench.ReadOptions](), "Spec": reflect.TypeFor[bootbench.Spec](),
		"Options": reflect.TypeFor[bootbench.Options](), "Kernel": reflect.TypeFor[bootbench.Kernel](),
		"Hinge": reflect.TypeFor[bootbench.Hinge](), "Square": reflect.TypeFor[bootbench.Square](),
		"Folds": reflect.TypeFor[bootbench.Folds](), "Trained": reflect.TypeFor[bootbench.Trained](),
		"Question": reflect.TypeFor[answer.Question](), "Study": reflect.TypeFor[answer.Study](),
		"Sheet": reflect.TypeFor[report.Sheet](),
	}
	named, known := map[string]bool{}, map[string]bool{}
	for _, folder := range slices.Concat(floors...) {
		if strings.HasPrefix(folder, "cmd/") {
			continue
		}
		texts(t, folder, "*.go", func(at token.Position, text string) {
			if flag.MatchString(text) {
				t.Errorf("%v: %s names a flag", at, text)
			}
			for _, name := range field.FindAllStringSubmatch(text, -1) {
				named[name[0]] = true
				of, exists := types[name[1]], true
				for _, part := range strings.Split(name[2][1:], ".") {
					at, is := of.FieldByName(part)
					if _, method := reflect.PointerTo(of).MethodByName(part); is {
						of = at.Type
					} else if exists = method; !method {
						break
					}
				}
				if !exists {
					t.Errorf("%v: there is no %s", at, name[0])
				}
			}
		})
	}
	for line := range strings.Lines(string(testutil.Must(os.ReadFile("cmd/bootbench/help/fields.txt"))(t))) {
		known[field.FindString(line)] = true
	}
	for name := range named {
		if !known[name] {
			t.Errorf("the command has no flag for %s", name)
		}
		delete(known, name)
	}
	if len(known) > 0 || len(named) == 0 {
		t.Errorf("no message names %v", slices.Sorted(maps.Keys(known)))
	}
}
