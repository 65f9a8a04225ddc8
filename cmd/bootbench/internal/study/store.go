package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"bootbench/cmd/bootbench/internal/files"
)

// store keeps results as files in a folder, named after a digest of their keys.
type store struct {
	folder  files.Folder
	version string // of the program
}

// partSeal marks a part's file.
var partSeal = files.Seal{Kind: "part", Schema: Schema}

// mostPartBytes bounds the file of one part.
const mostPartBytes = 1 << 32

// partHead comes before the result in a part's file.
type partHead struct{ Version, Key string }

// name is the name of the file for a key.
func (s store) name(key string) string {
	digest := sha256.Sum256([]byte(key))
	return hex.EncodeToString(digest[:16]) + ".gob"
}

// load reads a result back into a zero value. The error is fs.ErrNotExist where
// there is none, or says why what there is is refused.
func (s store) load(key string, into any) error {
	content, err := s.folder.Read(s.name(key), mostPartBytes)
	if err != nil {
		return err
	}
	body, err := partSeal.Open(content)
	if err != nil {
		return fmt.Errorf("%s %w", s.name(key), err)
	}
	decoder := gob.NewDecoder(bytes.NewReader(body))
	var head partHead
	switch err := decoder.Decode(&head); {
	case err != nil:
		return fmt.Errorf("%s is damaged: %w", s.name(key), err)
	case head.Key != key:
		return fmt.Errorf("%s holds another part", s.name(key))
	case head.Version != s.version:
		return fmt.Errorf("%s is of version %s of the program, this is %s", s.name(key), head.Version, s.version)
	}
	if err := decoder.Decode(into); err != nil { // its checksum fits: it is as it was written
		return fmt.Errorf("%s is of another build of the program: %w", s.name(key), err)
	}
	return nil
}

// save writes a result, whole or not at all.
func (s store) save(key string, result any) error {
	var body bytes.Buffer
	encoder := gob.NewEncoder(&body)
	err := errors.Join(encoder.Encode(partHead{s.version, key}), encoder.Encode(result))
	if err == nil {
		err = s.folder.WriteDurably(s.name(key), partSeal.Close(body.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	return nil
}

// isMissing tells a part that is not there from one that is refused.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
