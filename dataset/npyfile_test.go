package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A file that is read from anywhere gives the set, or the new inputs, of the same bytes as a stream:
// all element types, both orders, any target, columns left out, missing values, infinities, sizes
// of several blocks, files cut short and files with bytes left over.
func TestArrayFileReadsWhatTheStreamReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	for trial := range 120 {
		descr := [...]string{"<f8", ">f8", "<f4", ">f4"}[rng.IntN(4)]
		rows, cols := 1+rng.IntN(40), 1+rng.IntN(6)
		if trial%20 == 0 {
			rows = 40000
		}
		values := make([]float64, rows*cols)
		for k := range values {
			values[k] = float64(float32(rng.NormFloat64()))
		}
		for range rng.IntN(3) {
			values[rng.IntN(len(values))] = [...]float64{math.NaN(), 1, math.Inf(1)}[rng.IntN(3)]
		}
		body := elements(descr, values...)
		switch rng.IntN(8) {
		case 0:
			body = body[:len(body)-1]
		case 1:
			body = append(body, 0)
		}
		version := byte(1 + rng.IntN(3))
		order := [...]string{"False", "True"}[rng.IntN(2)]
		file := npyFile(version, descr, order, fmt.Sprintf("(%d, %d)", rows, cols), body)
		path := write(t, "a.npy", file)
		opt := Options{Missing: Missing(rng.IntN(4))}
		if rng.IntN(2) == 0 {
			opt.Target = fmt.Sprint(1 + rng.IntN(cols+1))
		}
		if rng.IntN(3) == 0 {
			opt.Drop = []string{fmt.Sprint(1 + rng.IntN(cols))}
		}
		want, wantErr := ReadNPY(bytes.NewReader(file), path, opt)
		got, err := Load(path, opt)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
			t.Fatalf("trial %d, %s, %d x %d, %+v: %v, %v; as a stream %v, %v", trial, descr, rows, cols, opt, got, err,
				want, wantErr)
		}
		if want == nil {
			continue
		}
		in, err := LoadInputs(path, want, opt)
		wantIn, wantErr := arrayInputs(bytes.NewReader(file), path, want, opt)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(in, wantIn) {
			t.Fatalf("trial %d, new inputs: %v, %v; as a stream %v, %v", trial, in, err, wantIn, wantErr)
		}
	}
}

// arrayInputs are new inputs of an array that is read from its beginning.
func arrayInputs(r io.Reader, name string, train *Set, opt Options) (*Inputs, error) {
	t, err := arraySource{name: name, stream: r}.read(opt, func(t *table) error { return t.planInputs(train) })
	if err != nil {
		return nil, inFile(name, err)
	}
	return t.inputArray(train)
}

// A file that loses its end between the look at its size and the reading is an error.
func TestArrayFileCutWhileItIsRead(t *testing.T) {
	h := arrayHeader{rows: 1000, cols: 300, kind: 'f', size: 4, order: binary.LittleEndian}
	columns := make([]column, h.cols)
	for _, h.fortran = range []bool{false, true} {
		f := arrayFile{h: h, rows: h.rows, from: bytes.NewReader(make([]byte, 4*1000*300-1))}
		if err := f.read(newPlaced(h.rows, columns)); err == nil || !strings.Contains(err.Error(),
			"ends before the 1000 x 300") {
			t.Errorf("Fortran order %v: %v", h.fortran, err)
		}
	}
}
