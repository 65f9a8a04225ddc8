package main

import (
	"io"
	"slices"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
)

// outputs are where an answer goes beside standard output.
type outputs struct{ json, out string } // --json and the folder --out; "": none

// given is what a command has computed, in every form in which it is given.
type given struct {
	document report.Document       // as text, and on the page
	all      report.Document       // the document with all numbers, for --verbose; nil: the document has all
	text     func(io.Writer) error // instead of the document's
	json     any                   // instead of the document
	worst    *report.Worst         // a table on the page; nil: none
	csv      string                // name of the file of numbers in --out; "": none
	writeCSV func(io.Writer) error // what --csv writes, too
	figures  []*report.Figure
	warnings []string
	cost     *report.Cost // to be filled in
	status   string       // for the exit status; "": done
}

// deliver prints an answer and writes it where it was asked for.
func (a *app) deliver(g given) error {
	if g.cost != nil {
		a.spent(g.cost)
	}
	if g.status != "" {
		a.ended(g.status)
	}
	if g.text == nil {
		shown := g.document
		if g.all != nil && a.options.verbose {
			shown = g.all
		}
		g.text = func(w io.Writer) error { return report.WriteText(w, shown) }
	}
	if g.json == nil {
		g.json = g.document
	}
	switch file := a.options.csv; file {
	case "":
	case "-":
		g.text = g.writeCSV
	default:
		if err := files.Replace(file, g.writeCSV); err != nil {
			return err
		}
	}
	if err := a.print(g.text); err != nil {
		return err
	}
	a.console.Warn(g.warnings...)
	if a.ctx.Err() != nil {
		a.console.Warn("interrupted: this is what was finished")
	}
	document := func(w io.Writer) error { return report.WriteDocument(w, g.json) }
	switch {
	case a.outputs.json == "-":
		if err := document(a.console.Out); err != nil {
			return err
		}
	case a.outputs.json != "":
		if err := files.Replace(a.outputs.json, document); err != nil {
			return err
		}
	}
	if a.outputs.out == "" || a.tasks.sharded() { // a shard leaves that to merge
		return nil
	}
	return a.writeFolder(g, document)
}

// writeFolder writes what is in --out: the document, the numbers, and report.html with its figures beside it,
// and their numbers as CSV.
func (a *app) writeFolder(g given, document func(io.Writer) error) (err error) {
	a.console.Progress("writing the report", 0, 1)
	defer a.console.Clear()
	p := report.Page{Answer: g.document, Worst: g.worst, All: g.all, Figures: g.figures,
		Warnings: g.warnings, Command: a.commandLine(), Machine: machine()}
	write := func(name string, write func(io.Writer) error) {
		if err == nil {
			err = files.ReplaceIn(a.outputs.out, name, write)
		}
	}
	if g.csv != "" {
		write(g.csv, g.writeCSV)
		p.Files = append(p.Files, g.csv)
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
	write("report.html", p.WriteHTML)
	return err
}

// withPoints adds values per example, unless these are nil.
func (g given) withPoints(points *report.Points, labels *dataset.Classes) given {
	if points != nil {
		g.csv, g.writeCSV, g.worst = "points.csv", points.WriteCSV, &report.Worst{Points: points, Labels: labels}
		g.figures = append(report.PointFigures(points), g.figures...)
	}
	return g
}

// print hands standard output to write, unless the JSON document takes it.
func (a *app) print(write func(io.Writer) error) error {
	a.console.Clear()
	if a.outputs.json == "-" {
		return nil
	}
	return write(a.console.Out)
}
