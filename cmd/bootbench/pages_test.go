package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
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
		text := testutil.Must(os.ReadFile(page))(t)
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

// outFiles are the other files of commands in the folder of --out.
var outFiles = map[string][]string{
	"estimate": {"points.csv", "points-errors.svg"}, "retrain": {"points.csv", "points-spread.svg"},
	"curve": {"curve.csv", "curve-blobs.svg"}, "predict": {"points.csv", "predict.svg"},
	"compare": {"compare.csv", "compare-friedman1-time.csv", "compare-friedman1-time.svg"},
}

// TestLeads: the folder of --out has the document, numbers, figures, and a page that loads nothing and begins
// with the answer in a sentence; predict shows a person what was asked for, not the law over resamples.
func TestLeads(t *testing.T) {
	models := strings.NewReplacer("NUMBERS", "synthetic:friedman1,n=60 --loss square --noise 1",
		"LABELS", "synthetic:blobs,n=100 --loss hinge --C 1")
	lead := regexp.MustCompile(`<p class="lead">(.*)</p>`)
	for _, line := range cases("leads") {
		command, want, _ := strings.Cut(line, " | ")
		folder, name := filepath.Join(t.TempDir(), "a", "b"), strings.Fields(command)[0]
		must(t, models.Replace(command), "--out", folder)
		for _, file := range append(outFiles[name], "result.json") {
			if info, err := os.Stat(filepath.Join(folder, file)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", command, file, err)
			}
		}
		page := string(testutil.Must(os.ReadFile(filepath.Join(folder, "report.html")))(t))
		if !strings.Contains(page, "bootbench "+name) || len(page) > 2<<20 ||
			strings.Contains(page, "<script") || strings.Contains(page, "src=\"http") ||
			outFiles[name] != nil && !strings.Contains(page, "<svg") {
			t.Errorf("%s: page of %d bytes", command, len(page))
		}
		got := lead.FindStringSubmatch(strings.ReplaceAll(page, "&#43;", "+"))
		if got == nil || !regexp.MustCompile(want).MatchString(got[1]) {
			t.Errorf("%s: the page begins with %q, want %s", command, got, want)
		}
	}
	predict := models.Replace("predict LABELS --test synthetic:blobs,n=100")
	text := must(t, predict)
	if strings.Contains(text, "support") || !strings.Contains(text, "P(1)") {
		t.Errorf("predict shows\n%s", text)
	}
	if text := must(t, predict, "--verbose"); !strings.Contains(text, "support") {
		t.Errorf("predict --verbose shows\n%s", text)
	}
}

// transcript is a command line of doc/guide.md, and what the page has as its output.
type transcript struct{ line, output string }

// transcripts are those of a page, between their lines of text.
func transcripts(page string) (all []transcript, texts []string) {
	texts = []string{""}
	inside := false
	for line := range strings.Lines(page) {
		command, begins := strings.CutPrefix(line, "    $ bootbench ")
		inside = begins || inside && (strings.HasPrefix(line, "    ") || line == "\n")
		switch {
		case begins:
			all, texts = append(all, transcript{line: strings.TrimSpace(command)}), append(texts, "")
		case inside:
			all[len(all)-1].output += strings.TrimPrefix(line, "    ")
		default:
			texts[len(texts)-1] += line
		}
	}
	return all, texts
}

// unlike reports how an output differs from a transcript: words are equal, numbers within 5% or two units of
// their last digit, and ... stands for anything.
func (x transcript) unlike(output string) string {
	number := regexp.MustCompile(`[-+]?\d+(\.\d+)?(e[-+]?\d+)?`)
	var pattern strings.Builder
	for k, word := range strings.Fields(strings.ReplaceAll(x.output, " \\\n", "\n")) {
		if k > 0 {
			pattern.WriteString(`\s+`)
		}
		if word == "..." {
			pattern.WriteString(`[\s\S]*?`)
			continue
		}
		at := 0
		for _, place := range number.FindAllStringIndex(word, -1) {
			pattern.WriteString(regexp.QuoteMeta(word[at:place[0]]) + `([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)`)
			at = place[1]
		}
		pattern.WriteString(regexp.QuoteMeta(word[at:]))
	}
	output = strings.TrimSpace(strings.ReplaceAll(output, " \\\n", "\n"))
	got := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(output)
	if got == nil {
		return "other words"
	}
	for k, text := range number.FindAllString(x.output, -1) {
		_, decimals, _ := strings.Cut(text, ".")
		want, have := parseNumber(text), parseNumber(got[k+1])
		if math.Abs(have-want) > 0.05*math.Abs(want)+2*math.Pow10(-len(decimals)) {
			return fmt.Sprintf("%s instead of %s", got[k+1], text)
		}
	}
	return ""
}

func parseNumber(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// TestGuide runs the command lines of doc/guide.md, of every command, and compares what they print. With
// -args -update it writes the whole outputs anew.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	path := testutil.Must(filepath.Abs("../../doc/guide.md"))(t)
	all, texts := transcripts(string(testutil.Must(os.ReadFile(path))(t)))
	t.Chdir(t.TempDir())
	page, ran := texts[0], map[string]bool{"completion": true, "help": true, "losses": true}
	for k, x := range all {
		if strings.Contains(x.line, "--test new.csv") {
			rows := strings.Split(string(testutil.Must(os.ReadFile("houses.csv"))(t)), "\n")[:3]
			for i, row := range rows {
				rows[i] = row[:strings.LastIndex(row, ",")]
			}
			testutil.Must(0, os.WriteFile("new.csv", []byte(strings.Join(rows, "\n")), 0o644))(t)
		}
		ran[strings.Fields(x.line)[0]] = true
		o := drive(t, "", x.line)
		output := o.stdout
		if o.status != exitDone {
			t.Fatalf("bootbench %s: status %d: %s", x.line, o.status, o.stderr)
		}
		if why := x.unlike(output); why != "" && !*update {
			t.Errorf("bootbench %s: %s\n%s", x.line, why, output)
		}
		if x.output = strings.TrimRight(x.output, "\n"); !strings.Contains(x.output, "...") {
			x.output = strings.TrimRight(output, "\n")
		}
		if x.output != "" {
			x.output += "\n"
		}
		if texts[k+1] != "" {
			x.output += "\n"
		}
		page += "    $ bootbench " + x.line + "\n" +
			regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(x.output, "    $1") + texts[k+1]
	}
	for _, c := range commands() {
		if c.HasParent() && !ran[c.Name()] {
			t.Errorf("doc/guide.md has no transcript of %s", c.Name())
		}
	}
	if *update {
		testutil.Must(0, os.WriteFile(path, []byte(page), 0o644))(t)
	}
}

// TestHelpPages: a page of help fits into 80 columns and a screen of 80 lines, has examples, and says of
// every flag what it means if it is not given. estimate has at most 66 flags, with --no-bias, the other form
// of --bias.
func TestHelpPages(t *testing.T) {
	flagLine := regexp.MustCompile(`(?m)^ {2,6}(-h, )?--[A-Za-z]`)
	for _, c := range commands() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			told := strings.Contains(f.Usage, "default") || strings.Contains(f.Usage, "required")
			shown := f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false"
			if !told && !shown && f.Name != "help" && f.Name != "version" {
				t.Errorf("%s --%s does not tell its default: %s", c.Name(), f.Name, f.Usage)
			}
		})
		path := strings.TrimPrefix(c.CommandPath(), "bootbench")
		page := must(t, path, "--help")
		if c.Runnable() && c.HasParent() && !strings.Contains(page, "Examples:") {
			t.Errorf("%s --help has no examples", c.Name())
		}
		all := must(t, path, "--help-all")
		_, listed, _ := strings.Cut(all, "\nFlags:\n") // after the examples
		if flags := len(flagLine.FindAllString(listed, -1)); c.Name() == "estimate" &&
			(flags < 40 || flags > 66 || !strings.Contains(listed, "--no-bias")) {
			t.Errorf("%d flags: %s", flags, listed)
		}
		for line := range strings.Lines(page + all) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%s: %q", c.Name(), line)
			}
		}
		if lines, flags := strings.Count(page, "\n"), strings.Count(page, "\n      --"); lines > 80 ||
			flags > 40 {
			t.Errorf("%s --help has %d lines and %d flags", c.Name(), lines, flags)
		}
	}
}

// keysOf are the keys of a document: a dot leads into an object, [] into a list.
func keysOf(value any, prefix string, keys map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			keys[prefix+name] = true
			keysOf(inner, prefix+name+".", keys)
		}
	case []any:
		for _, inner := range v {
			keysOf(inner, strings.TrimSuffix(prefix, ".")+"[].", keys)
		}
	}
}

// TestJSONPage: doc/json.md has every key that the commands write, and no key that none of
// answer of testdata/answered.txt has, except keys that need a rare event.
func TestJSONPage(t *testing.T) {
	text := testutil.Must(os.ReadFile("../../doc/json.md"))(t)
	page := map[string]bool{}
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(text)) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ = strings.Cut("`"+cell, " | ")
			for _, key := range code.FindAllStringSubmatch(cell, -1) {
				page[key[1]] = true
			}
		}
	}
	table := write(t, "table.csv", ",a,b,kind\n"+strings.Repeat("r1,1,2,no\nr2,3,1,yes\nr3,2,2,no\n"+
		"r4,5,1,yes\nr5,4,7,yes\n", 3))
	written, folder := map[string]bool{}, t.TempDir()
	must(t, "estimate crabs --refine none --json", folder+"/crabs.json")
	files := strings.NewReplacer("TABLE", table, "FLOWERS", write(t, "flowers.csv", flowers), "DIR", folder)
	for i, line := range cases("answered") {
		if testing.Short() && i%3 > 0 && !strings.HasPrefix(line, "train") {
			continue // the run without -short has it
		}
		document := decoded[any](t, files.Replace(line))
		object, _ := document.(map[string]any)
		if object["schema"] != 4.0 || object["version"] != report.Version() {
			t.Errorf("%s: no schema or version", line)
		}
		delete(object, "results") // of a curve: answers of estimate
		keysOf(document, "", written)
	}
	listed := func(key string) bool { // NAME.* stands for all keys of NAME
		return page[key] || slices.ContainsFunc(slices.Collect(maps.Keys(page)), func(of string) bool {
			all, any := strings.CutSuffix(of, "*")
			return any && strings.HasPrefix(key, all)
		})
	}
	for key := range written {
		if !listed(key) {
			t.Errorf("doc/json.md lacks %s", key)
		}
	}
	rare := []string{"one_class", "refined.one_class", "time.iterations", "time.exact", "refined.time.exact",
		"refined.contradicts", "refined.replaced", "rho",
		"ties", "unheld", "remarks", "models[].remarks", "path[].failure", "columns[].targets"}
	for key := range page {
		if !testing.Short() && !written[key] && !slices.Contains(rare, key) && !strings.HasSuffix(key, "*") {
			t.Errorf("doc/json.md has %s, which none of these answers has", key)
		}
	}
}

// TestR runs the program of doc/r.md beside houses.csv where Rscript is installed; without jsonlite it says
// what is missing. The command that it calls is this test binary.
func TestR(t *testing.T) {
	if args, ok := os.LookupEnv("BOOTBENCH_ARGS"); ok {
		os.Exit(run(t.Context(), strings.Split(args, "\x1f"), os.Stdin, os.Stdout, os.Stderr))
	}
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("SKIP: Rscript is not installed")
	}
	page, program := testutil.Must(os.ReadFile("../../doc/r.md"))(t), ""
	for _, b := range regexp.MustCompile("(?s)```r\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		program += b[1]
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
		"BOOTBENCH_ARGS=\"$args\" exec " + shellWords(testutil.Must(filepath.Abs(os.Args[0]))(t)) +
		" -test.run '^TestR$'\n"
	if err := os.WriteFile(filepath.Join(dir, "bootbench"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "program")
	if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("Rscript", script)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if exec.Command("Rscript", "-e", "library(jsonlite)").Run() != nil {
		if err == nil || !strings.Contains(string(out), `install.packages("jsonlite") is needed`) {
			t.Errorf("without jsonlite: %v: %s", err, out)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"root mean square error ", "theory ", "worst row "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

// TestKernelPage: the program of doc/kernel.md, and what it prints, is the example of package solver.
func TestKernelPage(t *testing.T) {
	page := string(testutil.Must(os.ReadFile("../../doc/kernel.md"))(t))
	source := string(testutil.Must(os.ReadFile("../../solver/example_test.go"))(t))
	flat := func(text string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "//", "")), " ")
	}
	_, rest, _ := strings.Cut(page, "```go\n")
	program, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "It prints")
	prints, _, _ := strings.Cut(rest, "\nAnother loss")
	for _, part := range []string{program, prints} {
		if len(part) < 100 || !strings.Contains(flat(source), flat(part)) {
			t.Errorf("solver/example_test.go has not\n%s", part)
		}
	}
}

// TestClusterExamples: the files of doc/examples are named in doc/cluster.md, and retrain has their flags.
func TestClusterExamples(t *testing.T) {
	page := testutil.Must(os.ReadFile("../../doc/cluster.md"))(t)
	files, err := filepath.Glob("../../doc/examples/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !strings.Contains(string(page), "doc/examples/"+filepath.Base(file)) {
			t.Errorf("doc/cluster.md does not name %s", file)
		}
		at := slices.IndexFunc(commands(), func(c *cobra.Command) bool { return c.Name() == "retrain" })
		text := testutil.Must(os.ReadFile(file))(t)
		given := regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(
			regexp.MustCompile("(?m)^#.*").ReplaceAllString(string(text), ""), -1)
		for _, flag := range given {
			c := commands()[at]
			c.InheritedFlags()
			if c.Flags().Lookup(flag[1]) == nil {
				t.Errorf("%s: retrain has no --%s", file, flag[1])
			}
		}
		if len(given) < 5 {
			t.Errorf("%s has only the flags %v", file, given)
		}
	}
}
