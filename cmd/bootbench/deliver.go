package main

import (
	"io"
	"slices"
	"strings"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/report"
)

// answer is what a command has computed, in every form in which it is given.
type answer struct {
	text     func(io.Writer) error // nil: that of the page's first document, if it has one
	document any                   // for JSON
	csv      string                // name of the file of numbers; "": none
	writeCSV func(io.Writer) error
	page     report.Page
	warnings []string
}

// deliver prints an answer and writes it where it was asked for.
func (a *app) deliver(r answer) error {
	if r.text == nil && len(r.page.Answers) > 0 {
		r.text = func(w io.Writer) error { return report.WriteText(w, r.page.Answers[0]) }
	}
	if r.text != nil {
		if err := a.text(r.text); err != nil {
			return err
		}
	}
	a.console.Warn(r.warnings...)
	if err := a.document(r.document); err != nil {
		return err
	}
	if r.csv != "" {
		if err := a.file(r.csv, r.writeCSV); err != nil {
			return err
		}
		r.page.Files = append(r.page.Files, r.csv)
	}
	r.page.Warnings = r.warnings
	return a.page(&r.page)
}

// text hands standard output to write, unless the JSON document takes it.
func (a *app) text(write func(io.Writer) error) error {
	a.console.Clear()
	if a.outputs.stdout() {
		return nil
	}
	return write(a.console.Out)
}

// document writes the JSON document where it was asked for, and into --out as
// result.json.
func (a *app) document(doc any) error {
	a.console.Clear()
	write := func(w io.Writer) error { return report.WriteDocument(w, doc) }
	if a.outputs.stdout() {
		if err := write(a.console.Out); err != nil {
			return err
		}
	} else if a.outputs.json != "" {
		if err := files.Replace(a.outputs.json, write); err != nil {
			return err
		}
	}
	return a.file("result.json", write)
}

// print delivers an answer that is a text and a document.
func (a *app) print(doc report.Document) error {
	if err := a.text(func(w io.Writer) error { return report.WriteText(w, doc) }); err != nil {
		return err
	}
	return a.document(doc)
}

// writesFolder reports whether there is a folder to write into. A shard leaves that to
// merge.
func (a *app) writesFolder() bool { return a.outputs.out != "" && !a.tasks.sharded() }

// file writes a file into --out, if there is one.
func (a *app) file(name string, write func(io.Writer) error) error {
	if !a.writesFolder() {
		return nil
	}
	return a.outputs.folder.Write(name, write)
}

// page writes report.html into --out, if there is one, with its figures beside it in
// every format and their numbers as CSV. Command and machine are filled in.
func (a *app) page(p *report.Page) error {
	if !a.writesFolder() {
		return nil
	}
	a.console.Progress("writing the report", 0, 1)
	defer a.console.Clear()
	p.Command, p.Machine = a.commandLine(), machine()
	p.Files = append(p.Files, "result.json")
	for _, f := range p.Figures {
		numbers := f.Name + ".csv"
		if slices.Contains(p.Files, numbers) { // the rows of the table
			numbers = f.Name + "-figure.csv"
		}
		if err := a.figure(f, numbers); err != nil {
			return err
		}
		p.Files = append(p.Files, numbers)
	}
	return a.file("report.html", p.WriteHTML)
}

// figure writes a figure, and its numbers under that name, into --out.
func (a *app) figure(f *report.Figure, numbers string) error {
	for _, format := range report.Formats() {
		if err := a.file(f.Name+"."+format, func(w io.Writer) error { return f.Write(w, format) }); err != nil {
			return err
		}
	}
	return a.file(numbers, f.WriteCSV)
}

// commandLine is the command as a shell takes it, with more flags.
func (a *app) commandLine(more ...string) string {
	words := []string{"bootbench"}
	for _, arg := range slices.Concat(a.args, more) {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// shellWord quotes what a shell would not take as one word.
func shellWord(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_=+./:,%@", r)
	}
	if arg != "" && !slices.ContainsFunc([]rune(arg), func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
