package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// Schema is the version of the documents' keys, which doc/json.md lists. A key that goes
// or changes its meaning raises it; new keys do not.
const Schema = 1

// WriteDocument writes an answer as one indented JSON document and a line end. A list of numbers
// stays on one line, and an object gets the key "schema" before its own.
func WriteDocument(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if keys, ok := bytes.CutPrefix(text, []byte("{")); ok {
		text = append(fmt.Appendf(nil, `{"schema":%d,`, Schema), keys...)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	_, err = w.Write(append(numbers.ReplaceAllFunc(indented.Bytes(), oneLine), '\n'))
	return err
}

// numbers are a list of numbers and nulls with a line for each; a text has no line ends in JSON.
var numbers = regexp.MustCompile(`\[\n(\s*(null|[-+.0-9eE]+),?\n)+\s*\]`)

// lineEnd is one with the indentation of the next line.
var lineEnd = regexp.MustCompile(`\n\s*`)

// oneLine is a list on one line.
func oneLine(list []byte) []byte {
	list = lineEnd.ReplaceAll(list, []byte(" "))
	return slices.Concat(list[:1], list[2:len(list)-2], list[len(list)-1:])
}
