package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"bootbench/internal/need"
)

// alone reads everything in order, as chunks must seem to have been read.
const alone = -1

// messyTable writes up to 300 lines of two numbers, two texts and a target, and now and then what
// a chunk cannot read without those before it: quoted line ends, comments with quotes, texts that
// look like numbers, missing cells, empty rows, decimal commas, and errors of all kinds.
func messyTable(rng *rand.Rand) string {
	separator := [...]string{",", ";", "\t"}[rng.IntN(3)]
	end := [...]string{"\n", "\r\n"}[rng.IntN(2)]
	trouble := rng.IntN(120) // how often; 0: never
	often := func(k int) bool { return trouble > 0 && rng.IntN(k*(1+120-trouble)) == 0 }
	var b strings.Builder
	b.WriteString(strings.Join([]string{"a", "t", "b", "u", "y"}, separator) + end)
	for i := range rng.IntN(300) {
		cells := []string{fmt.Sprint(rng.NormFloat64()), [...]string{"red", "green", "blue"}[rng.IntN(3)],
			fmt.Sprint(rng.IntN(100)), fmt.Sprint("name", i), fmt.Sprint(rng.IntN(2))}
		switch {
		case often(2):
			cells[rng.IntN(5)] = ""
		case often(3):
			cells[1] = "7" // a text among texts
		case often(3):
			cells[3] = "\"two\nlines" + separator + " and \"\"quotes\"\"\""
		case often(9):
			cells[0] = "1,5"
		case often(9):
			cells[rng.IntN(5)] = [...]string{"Inf", "1e999", "x", "a\"b", "NaN", "\"open", "\xe9"}[rng.IntN(7)]
		case often(9):
			cells = cells[:4]
		case often(9):
			cells = []string{"", "", "", "", ""}
		}
		if often(3) {
			b.WriteString("# it's \"a comment" + end)
		}
		b.WriteString(strings.Join(cells, separator) + end)
	}
	text := b.String()
	return text[:len(text)-rng.IntN(2)] // with or without the last line end
}

// messyLines are sparse lines with errors now and then.
func messyLines(rng *rand.Rand) string {
	var b strings.Builder
	trouble := rng.IntN(2) * 400
	for range rng.IntN(300) {
		fmt.Fprintf(&b, "%d", rng.IntN(2))
		at := 0
		for range rng.IntN(5) {
			at += 1 + rng.IntN(4)
			fmt.Fprintf(&b, " %d:%v", at, rng.NormFloat64())
		}
		if trouble > 0 && rng.IntN(trouble) == 0 {
			b.WriteString([...]string{" 1:1", " 5:x", " # a comment", "\n", "\n3:1", " 0:1"}[rng.IntN(6)])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A text that is read in chunks gives the same set, bit for bit, notes and names included, or the
// same error with the same line, whatever the size of the chunks and however its reader hands it
// out. Most chunks here hold a few lines, some less than one.
func TestChunksReadWhatOneReaderReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	failures := 0
	for trial := range 240 {
		text, read := messyTable(rng), ReadTable
		opt := Options{Missing: Missing(rng.IntN(4)), chunk: alone}
		if trial%3 == 0 {
			text, read, opt = messyLines(rng), ReadLIBSVM, Options{Storage: Storage(rng.IntN(3)), chunk: alone}
		}
		if rng.IntN(4) == 0 {
			opt.MaxBytes = 1 << (8 + rng.IntN(6))
		}
		want, wantErr := read(strings.NewReader(text), "f", opt)
		if wantErr != nil {
			failures++
		}
		opt.chunk = 1 + rng.IntN(2000)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text))} {
			got, err := read(r, "f", opt)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("trial %d, chunks of %d: %v, read in order %v\n%s", trial, opt.chunk, err, wantErr, text)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("trial %d, chunks of %d: %+v, read in order %+v", trial, opt.chunk, got, want)
			}
		}
	}
	if failures < 40 || failures > 200 {
		t.Errorf("%d of 240 texts are refused: errors or sets are hardly tried", failures)
	}
}

// New inputs find the texts of the training set, or refuse others at the same place.
func TestChunksOfNewInputs(t *testing.T) {
	train := need.One(ReadTable(strings.NewReader("a,t,b,u,y\n1,red,2,v,1\n2,green,3,w,0\n3,blue,5,v,1\n"),
		"train", Options{Drop: []string{"u"}}))(t)
	rng := rand.New(rand.NewPCG(19, 2))
	for trial := range 100 {
		text := messyTable(rng)
		opt := Options{Missing: MissingMean, UnseenZero: trial%2 == 0, chunk: alone}
		want, wantErr := ReadInputsTable(strings.NewReader(text), "f", train, opt)
		opt.chunk = 1 + rng.IntN(2000)
		got, err := ReadInputsTable(strings.NewReader(text), "f", train, opt)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
			t.Fatalf("trial %d: %+v, %v; read in order %+v, %v", trial, got, err, want, wantErr)
		}
	}
}

// A reader that fails half way is told of after the errors of the lines before.
func TestChunksTellOfAFailingReader(t *testing.T) {
	broken := errors.New("the disk is gone")
	rows := bytes.Repeat([]byte("1,2\n"), 1000)
	for _, c := range []struct {
		text string
		want string
	}{
		{"a,y\n" + string(rows), "line 1002: the disk is gone"},
		{"a,y\n1,x\n2,3\n4,2,1\n" + string(rows), "line 4: 3 cells"},
	} {
		for _, size := range []int{alone, 100, 100000} {
			_, err := ReadTable(io.MultiReader(strings.NewReader(c.text), failed{broken}), "f", Options{chunk: size})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("chunks of %d: %v, not %s", size, err, c.want)
			}
		}
	}
}
