package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Schema is the version of the documents' keys, which doc/json.md lists. A key that goes
// or changes its meaning raises it; new keys do not.
const Schema = 2

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
	_, err = w.Write(append(joinLines(indented.Bytes()), '\n'))
	return err
}

// joinLines puts lists of numbers on one line each. Texts in JSON have no line ends, so that a bracket before
// one opens a list.
func joinLines(text []byte) []byte {
	joined := make([]byte, 0, len(text))
	for {
		begin := bytes.Index(text, []byte("[\n")) + 1
		if begin == 0 {
			return append(joined, text...)
		}
		end := begin + bytes.IndexAny(text[begin:], `]["{`)
		joined = append(joined, text[:begin]...)
		if text[end] == ']' {
			joined = append(joined, bytes.Join(bytes.Fields(text[begin:end]), []byte(" "))...)
		} else {
			joined = append(joined, text[begin:end]...)
		}
		text = text[end:]
	}
}
