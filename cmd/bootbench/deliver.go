package main

import (
	"cmp"
	"io"
	"slices"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/report"
)

// deliver prints an answer and writes its files.
func (a *app) deliver(g *report.Sheet) {
	a.mustFinish()
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
	if g.Text == nil {
		g.Text = func(w io.Writer) error {
			return report.WriteText(flagWriter{w}, g.Result, a.options.verbose)
		}
	}
	if g.JSON == nil {
		g.JSON = g.Result
	}
	if c := g.Covariance; c != nil {
		c.File = a.options.covarianceMatrix
		writeMatrix(c.File, c.Matrix.Rows, c.Matrix.Cols, c.Matrix.Data)
	}
	if a.options.csv == "-" {
		g.Text = g.Table.WriteCSV
	} else {
		a.write(a.options.csv, g.Table.WriteCSV)
	}
	a.print(g.Text)
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

// answer delivers an answer.
func (a *app) answer(r report.Result) { a.deliver(report.SheetOf(r, a.options.asked.NoPoints)) }

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
