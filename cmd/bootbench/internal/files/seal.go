package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Seal is content that tells whether it is whole. It begins with the line
//
//	bootbench KIND SCHEMA LENGTH SHA256
//
// which names the kind of file, the schema of its body, and the body's bytes and
// checksum.
type Seal struct {
	Kind   string
	Schema int
}

// Why content is not taken for what it should be.
var (
	ErrForeign  = errors.New("of bootbench")
	ErrCutShort = errors.New("is cut short")
	ErrDamaged  = errors.New("is damaged: its checksum does not fit")
)

// longestHead is the number of bytes of the first line at most.
const longestHead = 200

// magic is how the content begins, whatever its schema.
func (s Seal) magic() string { return "bootbench " + s.Kind + " " }

// Head is the first line for a body.
func (s Seal) Head(body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s%d %d %s\n", s.magic(), s.Schema, len(body), hex.EncodeToString(sum[:]))
}

// Close puts the first line before a body.
func (s Seal) Close(body []byte) []byte { return append(s.Head(body), body...) }

// Open is the body of content that is whole, or why it is not: ErrForeign where it
// is of another kind.
func (s Seal) Open(content []byte) ([]byte, error) {
	magic := []byte(s.magic())
	if !bytes.HasPrefix(content, magic) {
		if bytes.HasPrefix(magic, content) {
			return nil, ErrCutShort
		}
		return nil, fmt.Errorf("is no %s %w", s.Kind, ErrForeign)
	}
	line, body, whole := bytes.Cut(content, []byte("\n"))
	if !whole && len(content) < longestHead {
		return nil, ErrCutShort
	}
	fields := bytes.Fields(line[len(magic):])
	if len(fields) != 3 {
		return nil, ErrDamaged
	}
	schema, err1 := strconv.Atoi(string(fields[0]))
	length, err2 := strconv.Atoi(string(fields[1]))
	switch {
	case err1 != nil || err2 != nil:
		return nil, ErrDamaged
	case schema != s.Schema:
		return nil, fmt.Errorf("is of version %d, this program reads version %d", schema, s.Schema)
	case len(body) < length:
		return nil, ErrCutShort
	case !bytes.Equal(content[:len(line)+1], s.Head(body)):
		return nil, ErrDamaged
	}
	return body, nil
}
