package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"bootbench/report"
)

// blockStore keeps results as files in a folder, named after a digest of their
// key. It is a paper.Store.
type blockStore struct{ dir string }

func newBlockStore(out string) (blockStore, error) {
	dir := filepath.Join(out, "parts")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return blockStore{}, usagef("--out: %w", err)
	}
	return blockStore{dir}, nil
}

func (b blockStore) path(key string) string {
	digest := sha256.Sum256([]byte(key))
	return filepath.Join(b.dir, hex.EncodeToString(digest[:16])+".gob")
}

// Load reads a result back. A file that is damaged, or that belongs to another
// key, is as good as none.
func (b blockStore) Load(key string, into any) (bool, error) {
	text, err := os.ReadFile(b.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(text) < sha256.Size || sha256.Sum256(text[sha256.Size:]) != [sha256.Size]byte(text) {
		return false, nil
	}
	decoder := gob.NewDecoder(bytes.NewReader(text[sha256.Size:]))
	var kept string
	if decoder.Decode(&kept) != nil || kept != key {
		return false, nil
	}
	return decoder.Decode(into) == nil, nil
}

// Save writes a result, whole or not at all, after a checksum of it.
func (b blockStore) Save(key string, value any) error {
	var text bytes.Buffer
	encoder := gob.NewEncoder(&text)
	err := errors.Join(encoder.Encode(key), encoder.Encode(value))
	if err == nil {
		err = report.WriteFile(b.path(key), func(w io.Writer) error {
			sum := sha256.Sum256(text.Bytes())
			_, err1 := w.Write(sum[:])
			_, err2 := w.Write(text.Bytes())
			return errors.Join(err1, err2)
		})
	}
	if err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	return nil
}
