package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// fuzzLimit keeps the dense matrices of the fuzz tests small.
const fuzzLimit = 1 << 22

// requireSound checks the invariants of training sets that readers return, or of new inputs for train.
func requireSound(t *testing.T, s *Set, err error, train *Set) {
	if err != nil {
		wantError(t, err)
		return
	}
	if s.Sparse != nil {
		return // as requireSoundSparse finds
	}
	d, least := s.D(), 2
	if train != nil {
		d, least = train.D(), 1
	}
	if s.N() < least || s.D() != d || d < 1 || len(s.X.Data) != s.N()*d || s.X.Stride != d ||
		len(s.Targets(0)) != s.N() && (train == nil || s.Columns != nil) || 8*len(s.X.Data) > fuzzLimit ||
		len(s.RowNames) > 0 && len(s.RowNames) != s.N() {
		t.Fatalf("unsound set: %d x %d, %d numbers, %d targets, %d names of rows", s.N(), s.D(),
			len(s.X.Data), len(s.Targets(0)), len(s.RowNames))
	}
	for _, v := range append(s.X.Data, s.Targets(0)...) {
		if checkFinite(v) != nil {
			t.Fatalf("%v in the set", v)
		}
	}
	if train != nil {
		return
	}
	if len(s.Features) != d {
		t.Fatalf("%d features have %d names", d, len(s.Features))
	}
	if !slices.ContainsFunc(append([]string{s.TargetNames()}, s.Features...),
		func(h string) bool { return !isNumeric(h) && !isMissing(h) }) {
		return // such names are read as numbers
	}
	if strings.HasPrefix(s.Features[0], "#") || refuseForeign([]byte(s.Features[0])) != nil {
		return // written first, such a name starts a comment or a file of another kind
	}
	requireRoundTrip(t, s)
}

// FuzzTable reads anything as a table, under all options, and then as new inputs for a set of numbers, for
// one of texts, and for what it was read as.
func FuzzTable(f *testing.F) {
	for _, seed := range []string{
		"a,b,y\n1,2,3\n4,5,6\n", "\ufeffa,y\r\n1,2\r\n-1e-3,4\r\n", "1,2\n3,4\n", "a,y\n1,\n", "a,a\n1,2\n",
		"\"a\"\"b\",y\n\"1\",2\n3,4", "a,y\n0x1p-2,1_0\n", "a,y\nnan,inf\n", "", ",\n,\n", "a,y\n1,2,3\n",
		"a;b;y\n1,5;u;no\n2;v;yes\n?;u;no\n", "a b y\n1 2 3 4\n5 6 7 8\n", "# a y\n 1  2\n 3  4 \n",
		"0,1,2,3\n5,6,7,8\n1,2,3,4\n",
		",t,y\nr,\"x\n\"\"\",1\ns,NA,2\n", "a\ty\t\n1\t2\t\n\t\t\n3\t4\t\n", "t,y\nu,1\nv,2\nw,3\n",
		"a,y\n1,no\n?,yes\n2,no\n",
	} {
		for option := range byte(16) {
			f.Add([]byte(seed), option)
		}
	}
	worded := testutil.Must(readTable(strings.NewReader("a,t,y\n1,u,no\n2,v,yes\n3,w,no\n"), "worded",
		Options{}))(f)
	f.Fuzz(func(t *testing.T, data []byte, option byte) {
		opt := Options{MaxBytes: fuzzLimit, NoHeader: option&4 != 0, UnseenZero: option&8 != 0,
			Missing: [...]Missing{"", MissingDrop, MissingMean, MissingIndicator}[option%4]}
		if option&16 != 0 {
			opt.Target = "1"
		}
		if option&32 != 0 {
			opt.Drop = []string{"2"}
		}
		if option&64 != 0 {
			opt.Categorical = []string{"1"}
		}
		s, err := readTable(bytes.NewReader(data), "fuzz", opt)
		requireSound(t, s, err, nil)
		trains := []*Set{small(), worded}
		if err == nil {
			trains = append(trains, s)
		}
		for _, train := range trains {
			in, err := readInputs(bytes.NewReader(data), tableFormat, "fuzz", train.Encoding(), opt)
			requireSound(t, in, err, train)
			if train == s && (err != nil || !sameBits(in.X.Data, s.X.Data) && opt.Missing != MissingMean &&
				opt.Missing != MissingIndicator || in.Columns != nil && !slices.Equal(in.Targets(0),
				s.Targets(0))) {
				t.Fatalf("read as new inputs, the set differs: %v", err)
			}
		}
	})
}

// FuzzFiles reads anything as a file of the other formats: a training set, and new inputs for small.
func FuzzFiles(f *testing.F) {
	four, names := bytesOf("<f8", 1, 2, 3, 4), []string{"f.svm", "f.npy", "f.npz", "f.parquet"}
	x, y := npyFile(1, "<f8", "False", "(2, 2)", four), npyFile(1, "<f4", "False", "(2,)", four[:8])
	for kind, seeds := range [][][]byte{{
		[]byte("+1 1:0.5 3:2\n-1 2:1\n"), []byte("1 qid:3 1:1 # c\n2\n"), []byte("1 0:1\n"),
		[]byte("1 2:1 1:1\n"), []byte("1:1\n2:2\n"), []byte("1 524288:1\n1 1:1\n"),
		[]byte("1 999999999999:1\n"), []byte("\n\n"), []byte("1 1:\n"), []byte("x 1:1\n"),
		[]byte("1 1:1:1\n"), []byte("\ufeff1 1:2\n2 1:3"),
	}, {
		x, npyFile(2, ">f4", "True", "(2, 4)", four), npyFile(3, "<f8", "False", "(4, 1)", four),
		npyFile(1, "<f8", "False", "(9999999999, 9999999999)", four), npyRaw(1, "", nil),
		npyRaw(1, "'descr''fortran_order''shape'", nil), npyRaw(2, "}{'shape':(", nil), nil,
	}, {
		npz(map[string][]byte{"X": x, "y": y}), npz(map[string][]byte{"x": x}), npz(nil), nil,
		npz(map[string][]byte{"X": npyFile(1, "<f8", "True", "(99999999, 2)", nil)}),
	}, {
		parquetFile(f, houses(3)), parquetFile(f, houses(50)), []byte("PAR1\x15\x00PAR1"),
		[]byte("PAR1\xf8\xffPAR1"), // a footer of 4 GiB
	}} {
		for _, seed := range seeds {
			f.Add(byte(kind), seed)
		}
	}
	folder, train := f.TempDir(), small()
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		path, opt := filepath.Join(folder, names[kind%4]), Options{MaxBytes: fuzzLimit}
		testutil.Check(t, os.WriteFile(path, data, 0o644))
		s, err := Load(path, opt)
		requireSound(t, s, err, nil)
		in, err := train.Encoding().LoadInputs(path, opt)
		requireSound(t, in, err, train)
		if kind%4 == 0 {
			requireSoundSparse(t, data)
		}
	})
}

// requireSoundSparse keeps the lines of a sparse file sparse: the matrix must be one, within the limit.
func requireSoundSparse(t *testing.T, data []byte) {
	lines, err := readLines(bytes.NewReader(data), "fuzz", Options{MaxBytes: fuzzLimit})
	if err != nil {
		wantError(t, err)
		return
	}
	x := lines.x
	if x.Rows == 0 {
		return
	}
	err = linalg.Design{Sparse: &x}.Check()
	if err != nil || lines.labelled && len(lines.labels) != x.Rows {
		t.Fatalf("unsound sparse rows: %v", err)
	}
	if 16*(x.Rows+x.Cols)+12*len(x.Index) > fuzzLimit || slices.Contains(x.Value, 0) {
		t.Fatalf("%d x %d with %d entries exceed the limit, or some are zero", x.Rows, x.Cols, len(x.Index))
	}
}
