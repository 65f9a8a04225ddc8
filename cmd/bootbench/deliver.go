package main

import (
	"cmp"
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/linalg"
)

// deliver prints an answer and writes its files.
func (a *app) deliver(r report.Result) {
	a.mustFinish()
	g := report.SheetOf(r, a.options.asked.NoPoints)
	if g.Findings != nil {
		g.Findings.Add(a.found.Checks...)
	}
	g.Ignore(a.outputs.ignore)
	if g.Cost != nil {
		a.spent(g.Cost)
	}
	if g.Status != "" {
		a.ended(g.Status)
	}
	if c := g.Covariance; c != nil {
		c.File = a.options.covarianceMatrix
		writeMatrix(c.File, c.Matrix.Rows, c.Matrix.Cols, c.Matrix.Data)
	}
	if a.options.csv == "-" {
		a.print(g.Table.WriteCSV)
	} else {
		a.write(a.options.csv, g.Table.WriteCSV)
		a.print(func(w io.Writer) error { return report.WriteText(flagWriter{w}, r, a.options.verbose) })
	}
	if g.Findings != nil {
		a.say(g.Findings)
	}
	if a.ctx.Err() != nil {
		a.status = exitInterrupted
		a.console.Warn("interrupted: this is what was finished")
	}
	document := func(w io.Writer) error { return report.WriteDocument(flagWriter{w}, g.JSON) }
	a.write(a.outputs.json, document)
	if a.outputs.out != "" && !a.tasks.sharded() { // merge does it for shards
		a.writeFolder(g, document)
	}
}

func (a *app) ended(status string) {
	switch {
	case a.ctx.Err() != nil || status == answer.Cancelled:
		a.status = exitInterrupted
	case !report.Done(status) && a.status == exitDone:
		a.status = exitNotConverged
	}
}

// spent sets the cost of an answer so far, except the parts of its time.
func (a *app) spent(c *report.Cost) {
	info := blas.Describe()
	c.Time.Total = time.Since(a.began).Seconds()
	c.Memory = report.Memory{PeakBytes: peakBytes()}
	c.Backend = report.Backend{Name: info.Backend, Core: info.Core, Threads: info.Threads}
}

// say prints the checks and, with --verbose, the remarks.
func (a *app) say(f *report.Findings) {
	for _, c := range f.Checks {
		a.console.Note("%s: %s", cmp.Or(map[string]string{"issue": "warning"}[c.Level], c.Level),
			inFlags(c.String()))
	}
	for _, text := range f.Remarks {
		if a.options.verbose {
			a.console.Note("remark: %s", inFlags(text))
		}
	}
}

// write writes to a file, - for standard output, "" for none.
func (a *app) write(path string, write func(io.Writer) error) {
	switch path {
	case "":
	case "-":
		steps.Check(write(a.console.Out))
	default:
		steps.Check(files.Replace(path, write))
	}
}

func writeMatrix(path string, rows, columns int, data []float64) {
	x := linalg.Matrix{Rows: rows, Cols: columns, Stride: columns, Data: data}
	steps.Check(files.Replace(path, func(w io.Writer) error { return dataset.WriteArray(w, x) }))
}

// writeFolder writes the files of --out: the document, the numbers, report.html, and the figures with their
// numbers as CSV.
func (a *app) writeFolder(g *report.Sheet, document func(io.Writer) error) {
	a.console.Progress("writing the report", 0, 1)
	defer a.console.Clear()
	p := report.Page{Sheet: g, Command: a.line(), System: system()}
	write := func(name string, write func(io.Writer) error) {
		steps.Check(a.outputs.folder.Replace(name, write))
	}
	if g.CSV != "" {
		write(g.CSV, g.Table.WriteCSV)
		p.Files = append(p.Files, g.CSV)
	}
	write("result.json", document)
	p.Files = append(p.Files, "result.json")
	for _, f := range p.Figures {
		numbers := f.Name + ".csv"
		if slices.Contains(p.Files, numbers) { // the rows of the table
			numbers = f.Name + "-figure.csv"
		}
		write(f.Name+".svg", f.WriteSVG)
		write(numbers, f.WriteCSV)
		p.Files = append(p.Files, numbers)
	}
	write("report.html", func(w io.Writer) error { return p.WriteHTML(flagWriter{w}) })
}

// print calls write with standard output, unless the JSON document goes there.
func (a *app) print(write func(io.Writer) error) {
	a.mustFinish()
	a.console.Clear()
	if a.outputs.json != "-" {
		steps.Check(write(a.console.Out))
	}
}

// fieldPage has the fields of Go that messages of the library name, and what sets each on the command line.
//
//go:embed help/fields.txt
var fieldPage string

// flagOf replaces fields by flags. A field follows a blank or a bracket: a column of DATA may have its name.
var flagOf = func() *strings.Replacer {
	var pairs []string
	for line := range strings.Lines(fieldPage) {
		field, flag, _ := strings.Cut(strings.TrimSpace(line), " = ")
		pairs = append(pairs, " "+field, " "+flag, "("+field, "("+flag)
	}
	return strings.NewReplacer(pairs...)
}()

// inFlags is a message with flags in place of fields.
func inFlags(text string) string { return flagOf.Replace(" " + text)[1:] }

// flagWriter writes texts with flags in place of fields.
type flagWriter struct{ io.Writer }

func (w flagWriter) Write(text []byte) (int, error) {
	_, err := io.WriteString(w.Writer, inFlags(string(text)))
	return len(text), err
}

// outputs are the destinations of an answer besides standard output.
type outputs struct {
	json, out string   // --json and the folder --out; "": none
	ignore    []string // codes of checks
	folder    *files.Folder
	written   []output
}

// output is a file that a command writes, and the flag that names it or its folder, "" for standard output.
type output struct{ flag, path string }

// folderFiles are the names of the files that a command may write into the folder --out: the names of
// figures are the answer's, with DATA for curve, grid and compare.
func folderFiles(command string) *regexp.Regexp {
	figures := map[string]string{"compare": "|.+-(time|error)",
		"merge": "|curve|grid|compare|.+-(time|error)"}
	return regexp.MustCompile(`^(result\.json|report\.html|(points|rows|predict|reliability|roc|` + command +
		figures[command] + `)(-.+)?\.(csv|svg))$`)
}

// checkOutputs refuses, before the work, output files that cannot be written, are read, are named twice, or
// are in the folder --out and not the program's.
func (a *app) checkOutputs(cmd *cobra.Command) {
	o := &a.outputs
	value := func(name string) string {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	inputs := append([]string{value("test")}, cmd.Flags().Args()...)
	if cmd.Name() == "merge" {
		for i, folder := range inputs[1:] {
			inputs[1+i] = asFile(folder)
		}
	}
	for _, name := range append([]string{"export"}, flagLists["outputs"]...) {
		path := value(name)
		switch {
		case path == "", path == "-" && (name == "json" || name == "csv"):
			continue
		case name == "model" && cmd.Name() == "predict":
			inputs = append(inputs, asFile(path))
			continue
		case path == "-":
			refuse("--%s needs a file: - is none", name)
		case name == "export":
			path, inputs = cmd.Flags().Arg(0), nil
		}
		paths, err := []string{path}, error(nil)
		if name == "out" {
			if o.folder, err = files.OpenFolder(path); err == nil {
				paths, err = o.folder.Paths(folderFiles(cmd.Name()))
			}
		} else {
			err = files.CheckWritable(path)
		}
		if err != nil {
			refuse("--%s: %w", name, err)
		}
		for _, path := range paths {
			if other := o.flagOf(path, cmd.Name()); other != "" && other != name {
				refuse("--%s: %s is written by another flag, too: name another file", name, path)
			}
			o.written = append(o.written, output{name, path})
		}
	}
	if models := cmd.Flags().Lookup("models"); models != nil {
		for _, path := range models.Value.(pflag.SliceValue).GetSlice() {
			inputs = append(inputs, asFile(path))
		}
	}
	if folder := value("journal"); folder != "" {
		inputs = append(inputs, journal.Files(folder, value("shard"))...)
	}
	for _, path := range inputs {
		a.reads(path)
	}
}

// asFile is the path of a file or folder that may have the name of an embedded set.
func asFile(path string) string {
	if slices.Contains(dataset.Names(), path) {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// flagOf is the flag by which a file is written, "" for none.
func (o *outputs) flagOf(path, command string) string {
	name := filepath.Base(path)
	for _, w := range o.written {
		if files.Same(path, w.path) {
			return w.flag
		}
	}
	if o.folder != nil && folderFiles(command).MatchString(name) &&
		files.Same(path, filepath.Join(o.out, name)) {
		return "out"
	}
	return ""
}

// reads refuses to read a file, the files of a pattern, the journals of a folder, or standard input that the
// command would overwrite.
func (a *app) reads(input string) {
	names, err := dataset.Files(input)
	if err != nil || input == "" || slices.Contains(dataset.Names(), input) { // who reads it says so
		return
	}
	if info, err := os.Stat(input); err == nil && info.IsDir() {
		names = journal.Files(input, "")
	}
	if f, is := a.console.In.(*os.File); is && input == "-" {
		names = []string{f.Name()}
	}
	written := a.outputs.written
	for _, name := range names {
		at := slices.IndexFunc(written, func(o output) bool { return files.Same(o.path, name) })
		switch {
		case at < 0:
			continue
		case written[at].flag == "":
			refuse("standard output is %s, which is read, and would be lost: name another file", name)
		}
		refuse("--%s: %s is read, and would be lost: name another %s", written[at].flag, name,
			map[bool]string{true: "folder", false: "file"}[written[at].flag == "out"])
	}
}
