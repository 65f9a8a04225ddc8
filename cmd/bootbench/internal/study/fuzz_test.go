package study

import (
	"bytes"
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
)

// FuzzRecord reads anything as the record of a study: it is refused as the user's fault, or
// has a command and parts.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"schema":2,"version":"1","command":"retrain","data":["a.csv"],"folder":"/x","digests":["d"],"settings":[{"name":"noise","values":["1"]}],"parts":3}`))
	f.Add([]byte(`{"schema":2,"parts":-1}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, recordName), content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord(files.ReadFolder(dir))
		if err != nil && !usage.Is(err) {
			t.Errorf("not refused as a fault of the user's: %v", err)
		}
		if err == nil && (r.Command == "" || r.Parts < 1) {
			t.Errorf("%+v passes", r)
		}
		r.title()
		r.checkDigests(r.Digests)
	})
}

// FuzzPart reads anything as a part, and as the body of one whose checksum fits: it is
// refused, or the part that was asked for.
func FuzzPart(f *testing.F) {
	type result struct {
		Values []float64
		Rows   map[string][]int
		Name   string
	}
	var body bytes.Buffer
	encoder := gob.NewEncoder(&body)
	encoder.Encode(partHead{"1", "key"})
	encoder.Encode(result{[]float64{1, 2}, map[string][]int{"a": {1}}, "n"})
	f.Add(body.Bytes())
	f.Add(partSeal.Close(body.Bytes()))
	s := store{files.ReadFolder(f.TempDir()), "1"}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, whole := range [][]byte{content, partSeal.Close(content)} {
			if err := os.WriteFile(filepath.Join(s.folder.Path(), s.name("key")), whole, 0o600); err != nil {
				t.Fatal(err)
			}
			var r result
			if err := s.load("key", &r); err != nil && isMissing(err) {
				t.Errorf("it counts as missing: %v", err)
			}
			if s.load("other", &r) == nil {
				t.Error("it is another part, too")
			}
		}
	})
}
