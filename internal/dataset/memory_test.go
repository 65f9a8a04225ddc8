//go:build !race

// The race detector allocates memory of its own.

package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// allocated is what f allocates in all, which bounds the peak of its memory.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemoryOfTables: a table of numbers takes at most 1.3 times the memory of its inputs, as text and as an
// array, compressed or not, with rows left out and without; its means and scales take some rows; and a sample
// of its rows, with the others, takes as much as the sample.
func TestMemoryOfTables(t *testing.T) {
	const n, d = 4000, 100
	rng := rand.New(rand.NewPCG(1, 1))
	text, values := bytes.NewBufferString(strings.Join(numbered("c", d), ",")+",y\n"), []float64(nil)
	for i := range n {
		for range d + 1 {
			values = append(values, rng.NormFloat64())
		}
		if i%7 == 0 {
			values[len(values)-2] = -9
		}
		cells := make([]string, d+1)
		for j, v := range values[len(values)-d-1:] {
			cells[j] = fmt.Sprintf("%.5f", v)
		}
		text.WriteString(strings.Join(cells, ",") + "\n")
	}
	array := npyFile(1, "<f8", "False", fmt.Sprintf("(%d, %d)", n, d+1), bytesOf("<f8", values...))
	for name, content := range map[string][]byte{"d.csv": text.Bytes(), "d.csv.gz": gzipped(text.Bytes()),
		"d.npy": array, "d.npy.gz": gzipped(array), "d.npz": npz(map[string][]byte{"X": array,
			"y": npyFile(1, "<f8", "False", fmt.Sprintf("(%d, 1)", n), bytesOf("<f8", values[:n]...))})} {
		path := write(t, name, content)
		for _, opt := range []Options{{}, {NA: []string{"-9"}, Missing: MissingDrop}, {Target: "2"}} {
			var s *Set
			got := allocated(func() { s = testutil.Must(Load(path, opt))(t) })
			if most := 1.3*8*n*d + 1<<20; got > most || s.D() != d && name != "d.npz" {
				t.Errorf("%s, %+v: %.3g bytes allocated, more than %.3g", name, opt, got, most)
			}
			if got := allocated(func() { s.Standardizer() }); got > 1<<16 {
				t.Errorf("%s: %.3g bytes allocated for means and scales", name, got)
			}
			order := rng.Perm(s.N())
			got = allocated(func() { s.Split(order[:n/10], order[n/10:]) })
			if most := 8.*n/10*d + 1<<19; got > most {
				t.Errorf("%s, %+v: %.3g bytes allocated for a sample, more than %.3g", name, opt, got, most)
			}
		}
	}
}

// TestMemoryOfBombs: small files with large contents are refused at the limit, of the options or else a third
// of the runtime's, and take no more memory: long lines of separators, columns without end, wide rows, many
// rows, long texts, pages and members that announce much.
func TestMemoryOfBombs(t *testing.T) {
	const limit = 16 << 20
	long := func(piece string, bytes int) string { return strings.Repeat(piece, bytes/len(piece)) }
	for name, content := range map[string]string{
		"commas.csv":  long(",", 6<<20),
		"header.csv":  long("a,", 6<<20),
		"names.csv":   strings.Join(numbered("c", 200000), ",") + "\n",
		"row.csv":     "a,y\n1,2\n" + long("1,", 6<<20),
		"rows.csv":    "a,y\n" + long("0,0\n", 10<<20),
		"quotes.csv":  "a,y\n1,\"" + long("x\n", 6<<20),
		"zeros.csv":   "a,y\n1,2\n0," + long("\x00", 6<<20),
		"blanks.txt":  "a y\n1 2\n" + long("1 ", 6<<20),
		"comment.csv": "a,y\n1,2\n#" + long(",", 6<<20),
		"entries.svm": "1 1:1\n" + long("1 ", 6<<20),
		"rows.svm":    long("1\n", 6<<20),
		"array.npy":   string(npyFile(1, "<f8", "False", "(4000000, 4)", make([]byte, 1<<20))),
	} {
		for end, compress := range map[string]func([]byte) []byte{".gz": gzipped, ".zst": zstandard} {
			path := write(t, name+end, compress([]byte(content)))
			var err error
			got := allocated(func() { _, err = Load(path, Options{MaxBytes: limit}) })
			wantError(t, err, name+end)
			grows := end == ".zst" || strings.HasPrefix(name, "rows") // buffers are allocated again
			if got > 2*limit && !grows || name != "zeros.csv" && !errors.Is(err, errMemory) {
				t.Errorf("%s: %.3g bytes allocated under a limit of %d: %v", name, got, limit, err)
			}
		}
	}
	for name, content := range map[string][]byte{ // arrays that are not there
		"d.npz": npz(map[string][]byte{"X": npyFile(1, "<f8", "True", "(4000000, 1)", nil)}),
		"d.npy": npyFile(1, "<f8", "False", "(100000000, 2)", make([]byte, 1<<16))} {
		path := write(t, name, content)
		if got := allocated(func() { _, err := Load(path, Options{}); wantError(t, err) }); got > limit {
			t.Errorf("%s: %.3g bytes allocated", name, got)
		}
	}
	large := npz(map[string][]byte{"X": npyFile(1, "<f8", "False", "(4000000, 4)", nil)})
	_, err := Load(write(t, "d.npz", large), Options{MaxBytes: limit})
	wantError(t, err, "limit is 16 MiB")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(300 << 20))
	if got := (Options{}).complete().MaxBytes; got != 100<<20 {
		t.Errorf("without options the limit is %d", got)
	}
}
