package main

import (
	"cmp"
	_ "embed"
	"io"
	"slices"
	"strings"
	"time"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
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
