package main

import (
	"io"
	"slices"
	"strings"

	"bootbench/report"
)

// page writes report.html into --out, if there is one, with its figures beside
// it in every format and their numbers as CSV. Title, command and machine are
// filled in.
func (s *session) page(p *report.Page) error {
	if s.out == "" || s.study.partial() {
		return nil
	}
	s.bars.show("writing the report", 0, 1)
	defer s.bars.clear()
	if p.Title == "" && len(p.Answers) > 0 {
		p.Title = p.Answers[0].Title()
	}
	p.Command, p.Machine = s.commandLine(), *machine()
	p.Files = append(p.Files, "result.json")
	for _, f := range p.Figures {
		numbers := f.Name + ".csv"
		if slices.Contains(p.Files, numbers) { // the rows of the table
			numbers = f.Name + "-figure.csv"
		}
		if err := s.figure(f, numbers); err != nil {
			return err
		}
		p.Files = append(p.Files, numbers)
	}
	return s.file("report.html", p.WriteHTML)
}

// figure writes a figure, and its numbers under that name, into --out.
func (s *session) figure(f *report.Figure, numbers string) error {
	for _, format := range report.Formats() {
		if err := s.file(f.Name+"."+format, func(w io.Writer) error { return f.Write(w, format) }); err != nil {
			return err
		}
	}
	return s.file(numbers, f.WriteCSV)
}

// commandLine is the command as a shell takes it.
func (s *session) commandLine() string {
	words := []string{"bootbench"}
	for _, arg := range s.args {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// shellWord quotes what a shell would not take as one word.
func shellWord(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+./:,%@", r)
	}
	if arg != "" && !slices.ContainsFunc([]rune(arg), func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
