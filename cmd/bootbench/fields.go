package main

import (
	_ "embed"
	"io"
	"strings"
)

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
