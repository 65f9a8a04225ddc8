package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// Readers of streams as the tests want them.

// readStream reads a training set, or new inputs for train.
func readStream(r io.Reader, f format, name string, train *Encoding, opt Options) (*Set, error) {
	return readFiles(name, []*source{{name: name, format: f, text: newText(r)}}, opt, train)
}

func readInputs(r io.Reader, f format, name string, e *Encoding, opt Options) (*Inputs, error) {
	return readStream(r, f, name, e, e.options(opt))
}

func reader(f format) func(r io.Reader, name string, opt Options) (*Set, error) {
	return func(r io.Reader, name string, opt Options) (*Set, error) {
		return readStream(r, f, name, nil, opt)
	}
}

var readTable, readLIBSVM, readNPY = reader(tableFormat), reader(libsvmFormat), reader(npyFormat)

// readLines reads sparse lines, whatever their number and labels.
func readLines(r io.Reader, name string, opt Options) (*sparse, error) {
	s := &sparse{name: name, opt: opt.complete(), x: linalg.CSR{Start: []int{0}}}
	if err := s.readFile(&source{name: name, text: newText(r)}); err != nil {
		return nil, inFile(name, err)
	}
	if s.zero == nil {
		s.count(1)
	}
	return s, nil
}

// wantError checks that err is an input error whose line contains every part.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("error %v (%T) is not an *Error", err, err)
	}
	text := err.Error()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("error %q does not say %q", text, p)
		}
	}
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("error %q is not one line", text)
	}
}

// small is a set of four examples with two features.
func small() *Set {
	return &Set{
		Name: "small", Features: []string{"a", "b"},
		X:       linalg.Matrix{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 10, 2, 20, 3, 30, 4, 40}},
		Columns: []Column{{Name: "t", Y: []float64{0.5, 1.5, 2.5, 3.5}}},
	}
}

// TestNew: a set in memory equals the set of a table of the same numbers, and does not change with its
// matrix.
func TestNew(t *testing.T) {
	x, y := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), []float64{-1, 1}
	s := testutil.Must(New(x, y))(t)
	x.Set(0, 0, 9)
	y[0] = 9
	if !slices.Equal(s.X.Data, []float64{1, 2, 3, 4, 5, 6}) || !slices.Equal(s.Targets(0), []float64{-1,
		1}) || s.AreNumbers() ||
		!slices.Equal(s.Features, []string{"x1", "x2", "x3"}) || s.TargetNames() != "y" {
		t.Errorf("%+v", s)
	}
	if turned, err := New(x.T(), []float64{1, 2, 5}); err != nil || turned.D() != 2 ||
		!turned.AreNumbers() || turned.X.At(2, 1) != 6 {
		t.Errorf("a view: %+v, %v", turned, err)
	}
	for _, c := range []struct {
		x    mat.Matrix
		y    []float64
		says string
	}{
		{nil, nil, "there is no matrix"}, {&mat.Dense{}, nil, "0 x 0"}, {x, []float64{1}, "1 targets for 2"},
		{mat.NewDense(1, 1, nil), []float64{1}, "only one example"},
		{mat.NewDense(2, 1, []float64{0, math.NaN()}), y, `row 2: column "x1": NaN`},
		{x, []float64{1, math.Inf(1)}, `row 2: column "y": +Inf`},
	} {
		_, err := New(c.x, c.y)
		wantError(t, err, c.says)
	}
}

// TestSplit: the two parts of a set are the rows of two lists, copied or moved, and a head is its first rows.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 2; n < 40; n++ {
		x, y := linalg.NewMatrix(n, 2), make([]float64, n)
		for i := range y {
			x.Row(i)[0], x.Row(i)[1], y[i] = float64(i), float64(-i), float64(10*i)
		}
		set := testutil.Must(New(x, y))(t)
		set.Weights, set.Groups = y, make([]int, n)
		order, size := rng.Perm(n), 1+rng.IntN(n-1)
		some, rest := set.Split(order[:size], order[size:])
		for k, row := range order {
			at, i := some, k
			if k >= size {
				at, i = rest, k-size
			}
			v := float64(row)
			if !slices.Equal(at.X.Row(i), []float64{v, -v}) || at.Columns[0].Y[i] != 10*v ||
				at.Weights[i] != 10*v {
				t.Fatalf("%d of %d rows: row %d of %v is %v", size, n, k, order, at.X.Row(i))
			}
		}
		if some.N() != size || rest.N() != n-size || rest.Head(3).N() != min(3, n-size) ||
			!slices.Equal(rest.Head(3).X.Row(0), rest.X.Row(0)) {
			t.Errorf("%d and %d rows, and a head of %d", some.N(), rest.N(), rest.Head(3).N())
		}
	}
}

// withTargets is a small set with these targets.
func withTargets(y ...float64) *Set {
	s := small()
	s.Columns[0].Y = y
	return s
}

// TestCheck: whether labels are needed, targets, and words of the error if they do not suit.
func TestCheck(t *testing.T) {
	const table = `
labels | 1 -1 1
numbers | 1 1 1.5
labels |  | no targets
labels | 1 1 | all 2 targets are 1; that differ
numbers | 2 2 2 | all 3 targets are 2; that differ
labels | 1 0 1 | not 0 and 1; ReadOptions.Positive 1
labels | 1 -1 0 | -1 and +1; found "-1", "0", "1"
labels | 9 8 7 6 5 4 3 2 | "2", "3", "4", "5", "6", "7", ...`
	for c := range cases(t, table, 7) {
		s := withTargets(numbersOf(t, c[1])...)
		s.Columns[0] = s.Columns[0].guessed()
		err := s.Check(c[0] == "labels")
		if c[2] != "" {
			wantError(t, err, append(strings.Split(c[2], "; "), "small: ", `column "t"`)...)
		} else if err != nil {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// TestClassify: targets, the positive one, what they become, and the levels, without a note of -1 and +1.
func TestClassify(t *testing.T) {
	const table = `
2 1 1 2 |  | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 2 | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 1.0 | -1 1 1 -1 | 2 | 1
0.5 0.5 -7 0.5 |  | 1 1 -1 1 | -7 | 0.5
1 -1 1 1 |  | 1 -1 1 1 | -1 | 1
1 -1 1 1 | -1 | -1 1 -1 -1 | 1 | -1`
	for c := range cases(t, table, 6) {
		y, want := numbersOf(t, c[0]), numbersOf(t, c[2])
		s := withTargets(y...)
		if err := s.Classify(c[1]); err != nil || !slices.Equal(s.Targets(0), want) || s.Check(true) != nil {
			t.Errorf("%q became %v: %v", c, s.Columns, err)
		}
		if !slices.Equal(s.Levels(), c[3:5]) || (c[3] == "-1") != (len(s.Notes) == 0) {
			t.Errorf("%q: levels %q, notes %q", c, s.Levels(), s.Notes)
		}
		again, err := s.Columns[0].encode(y, labelName) // new targets go the same way
		if err != nil || !slices.Equal(again, s.Columns[0].Y) {
			t.Errorf("%q became %v, %v", c, again, err)
		}
		_, err = s.Columns[0].encode([]float64{y[0], 3}, labelName)
		wantError(t, err, "row 2", "3 is neither")
	}
	wantError(t, withTargets(1, 1).Classify(""), `holds 1 values ("1")`)
	wantError(t, withTargets(1, 2, 3, 4.5).Classify(""), "two classes", `4 values ("1", "2", "3", "4.5")`)
	wantError(t, withTargets(1, 2, 1).Classify("3"), `"3" is none of the 2 values of the target ("1", "2")`)
}

// TestCaseOfClasses: classes that differ only in case stay two, and a doubt names them.
func TestCaseOfClasses(t *testing.T) {
	for text, said := range map[string]bool{"x,y\n1,Yes\n2,no\n3,yes\n4,no\n5,Yes\n6,yes\n": true,
		"x,y\n1,yes\n2,no\n3,yes\n4,no\n": false} {
		s := testutil.Must(Load("-", Options{Stdin: strings.NewReader(text)}))(t)
		if notes := told(s); strings.Contains(notes, `"Yes" and "yes"`) != said {
			t.Errorf("%q: %s", text, notes)
		}
	}
}

// TestFeatureColumns: a column of texts has all its indicators; without it they tell nothing, and other
// columns keep their values. Permuted, rows keep whole values, and groups that have one value each keep one.
func TestFeatureColumns(t *testing.T) {
	text := "a,kind,site,b,y\n"
	for i := range 12 {
		text += fmt.Sprintf("%s,%s,%c,%d,%d.5\n", []string{"1.5", "2", "3"}[i%3],
			[]string{"ash", "elm", "oak"}[i%3], 'p'+i/3, []int{4, 5, 7, 8}[i/3], i%2)
	}
	s := testutil.Must(Load("-", Options{Stdin: strings.NewReader(text), Groups: "site"}))(t)
	columns := s.FeatureColumns()
	if len(columns) != 3 || columns[0].Name != "a" || !slices.Equal(columns[1].Features, []int{1, 2, 3}) ||
		columns[2].Name != "b" || s.D() != 5 {
		t.Fatalf("columns %v of %d features", columns, s.D())
	}
	without := s.Without(columns[1])
	for i := range s.N() {
		for j, v := range without.X.Row(i) {
			inside := slices.Contains(columns[1].Features, j)
			if inside && v != 0 || !inside && v != s.X.At(i, j) {
				t.Errorf("row %d, feature %d: %v of %v", i, j, v, s.X.At(i, j))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	moved, sums := s.Permuted(columns[1], rng), make([]float64, s.D())
	for i := range s.N() {
		ones := 0.0
		for _, j := range columns[1].Features {
			ones += moved.X.At(i, j)
			sums[j] += moved.X.At(i, j)
		}
		if ones != 1 || moved.X.At(i, 0) != s.X.At(i, 0) {
			t.Errorf("row %d: %v of %v", i, moved.X.Row(i), s.X.Row(i))
		}
	}
	if sums[1] != 4 || sums[2] != 4 || sums[3] != 4 {
		t.Errorf("levels stand in %v rows", sums[1:4])
	}
	whole := s.Permuted(columns[2], rng)
	seen := map[float64]int{}
	for i, g := range s.Groups {
		if v := whole.X.At(i, 4); v != whole.X.At(slices.Index(s.Groups, g), 4) {
			t.Errorf("group %d has two values", g)
		} else {
			seen[v]++
		}
	}
	if len(seen) != 4 {
		t.Errorf("groups have the values %v", seen)
	}
}

// drawThin is a matrix of few different entries, most of them zero.
func drawThin(t *rapid.T) linalg.Matrix {
	n, d := rapid.IntRange(0, 30).Draw(t, "n"), rapid.IntRange(0, 5).Draw(t, "d")
	value := rapid.SampledFrom([]float64{0, 0, 0, math.Copysign(0, -1), 1, 1 + 0x1p-52})
	return linalg.Matrix{Rows: n, Cols: d, Stride: d, Data: rapid.SliceOfN(value, n*d, n*d).Draw(t, "x")}
}

// distinctByPairs compares every pair of rows.
func distinctByPairs(x linalg.Matrix) (site, first []int) {
	for i := range x.Rows {
		s := slices.IndexFunc(first, func(f int) bool { return slices.Equal(x.Row(i), x.Row(f)) })
		if s < 0 {
			s = len(first)
			first = append(first, i)
		}
		site = append(site, s)
	}
	return site, first
}

// TestSparseSetIsTheDenseOne: every method gives the same answer for sparse and dense inputs.
func TestSparseSetIsTheDenseOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawThin(t)
		dense := &Set{X: x, Columns: []Column{{Y: make([]float64, x.Rows)}}}
		held := &Set{Sparse: linalg.NewCSR(x), Columns: dense.Columns}
		if err := held.Design().Check(); err != nil {
			t.Fatal(err)
		}
		if dense.N() != held.N() || dense.D() != held.D() {
			t.Fatalf("%d x %d became %d x %d", dense.N(), dense.D(), held.N(), held.D())
		}
		wantSite, first := distinctByPairs(x)
		for _, set := range []*Set{dense, held} {
			if site, got := set.Distinct(); !slices.Equal(site, wantSite) || !slices.Equal(got, first) {
				t.Fatalf("got %v, %v; want %v, %v", site, got, wantSite, first)
			}
		}
		rows := rapid.Permutation(first).Draw(t, "rows")
		a, b := dense.Subset(rows), held.Subset(rows)
		if b.X.Rows != 0 || !slices.Equal(a.X.Data, b.Sparse.Dense().Data) {
			t.Fatalf("subsets %v and %v", a.X, b.Sparse)
		}
	})
}

// TestSparseInputs: new inputs are sparse if the training inputs are, and may have features that those lack.
func TestSparseInputs(t *testing.T) {
	train := testutil.Must(readLIBSVM(strings.NewReader("1 1:1 5000:2\n-1 2:1\n"), "train.svm", Options{}))(t)
	path := write(t, "new.svm", []byte("2:1 9:3\n\n1:0.5\n"))
	in, err := train.Encoding().LoadInputs(path, Options{})
	if err != nil || in.N() != 2 || in.Columns != nil || in.Sparse.Cols != 9 || !slices.Equal(in.Sparse.Value,
		[]float64{1, 3, 0.5}) {
		t.Fatalf("read %+v, %v", in, err)
	}
	generated, err := train.Encoding().LoadInputs("synthetic:text,n=3,d=100", Options{})
	if err != nil || generated.N() != 3 || generated.Sparse == nil {
		t.Errorf("generated %+v, %v", generated, err)
	}
	for _, dense := range []string{write(t, "new.csv", []byte("a,b\n1,2\n")), "crabs"} {
		_, err := train.Encoding().LoadInputs(dense, Options{})
		wantError(t, err, dense, "train.svm is sparse")
	}
	if err := writeCSV(full{}, train); err == nil || !strings.Contains(err.Error(), ".svm") {
		t.Errorf("a sparse set as CSV: %v", err)
	}
}

// TestCopies: rows that are copied are found; rows that repeat by chance, by design or in a few of the rows
// are not, nor those whose inputs have several targets.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n, d, times int, feature, target func() float64) *Set {
		y := make([]float64, n*times)
		s := &Set{X: linalg.NewMatrix(n*times, d), Columns: []Column{{Y: y}}}
		for i := range y {
			if row := s.X.Row(i); i < n {
				for j := range row {
					row[j] = feature()
				}
				y[i] = target()
			} else {
				copy(row, s.X.Row(i-n))
				y[i] = y[i-n]
			}
		}
		return s
	}
	coin := func() float64 { return float64(2*rng.IntN(2) - 1) }
	digit := func() float64 { return float64(rng.IntN(4)) }
	apart := draw(60, 2, 2, rng.NormFloat64, rng.NormFloat64)
	for i := range 60 {
		apart.Columns[0].Y[i]++
	}
	record := draw(40, 3, 3, rng.NormFloat64, rng.NormFloat64)
	for i := range record.N() {
		record.X.Row(i)[1] = float64(1000 + i*7%120)
	}
	few := draw(300, 4, 2, rng.NormFloat64, coin).Head(302)
	for name, c := range map[string]struct {
		set    *Set
		copies int
	}{
		"labels": {draw(60, 2, 2, rng.NormFloat64, coin), 60}, "numbers": {draw(40, 1, 3, rng.NormFloat64,
			rng.NormFloat64), 80}, "images": {draw(90, 30, 2, digit, digit), 90},
		"none": {draw(90, 3, 1, rng.NormFloat64, coin), 0}, "design": {draw(300, 3, 1, digit, coin), 0},
		"replicates": {apart, 0}, "few": {few, 0}, "numbered": {record, 80},
	} {
		if site, copies := c.set.Copies(); copies != c.copies || (site != nil) != (copies > 0) {
			t.Errorf("%s: %d copies, want %d", name, copies, c.copies)
		}
	}
}

// exactMoments computes mean and population standard deviation with 2000 bits, by the textbook formula.
func exactMoments(column []float64) (mean, sd float64) {
	number := func() *big.Float { return new(big.Float).SetPrec(2000) }
	sum, squares, n := number(), number(), number().SetInt64(int64(len(column)))
	for _, v := range column {
		b := number().SetFloat64(v)
		sum.Add(sum, b)
		squares.Add(squares, number().Mul(b, b))
	}
	m := number().Quo(sum, n)
	variance := squares.Quo(squares, n)
	variance.Sub(variance, number().Mul(m, m))
	if variance.Sign() < 0 {
		variance.SetInt64(0)
	}
	mean, _ = m.Float64()
	sd, _ = number().Sqrt(variance).Float64()
	return mean, sd
}

// Rounding of each of n <= 50 terms bounds the relative error of mean and standard deviation by a few n eps =
// 1e-14; the mean is judged on the scale of the largest value, the deviation too, since a spread that is
// small beside the values inherits their rounding.
func TestMomentsAgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Pow(10, rapid.Float64Range(-290, 290).Draw(t, "scale"))
		column := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 50).Draw(t, "column")
		largest := 0.0
		for i := range column {
			column[i] *= scale
			largest = math.Max(largest, math.Abs(column[i]))
		}
		wantMean, wantSD := exactMoments(column)
		_, z := Standardize(linalg.Matrix{Rows: len(column), Cols: 1, Stride: 1, Data: column})
		if math.Abs(z.Mean[0]-wantMean) > 1e-14*largest || math.Abs(z.SD[0]-wantSD) > 1e-14*largest {
			t.Fatalf("%+v, want %v and %v", z, wantMean, wantSD)
		}
	})
}

// TestStandardize: columns get mean 0 and deviation 1, constant ones become 0, in new inputs too, and extreme
// values stay within bounds.
func TestStandardize(t *testing.T) {
	s := testutil.Must(Open("boston"))(t)
	before := slices.Clone(s.X.Data)
	z, scaler := Standardize(s.X)
	again, err := scaler.Apply(s.X)
	if err != nil || !slices.Equal(again.Data, z.Data) || !slices.Equal(before, s.X.Data) {
		t.Errorf("Apply differs from Standardize, or the inputs were changed (%v)", err)
	}
	for j := range s.D() { // N = 506 values of order one: N eps = 1e-13
		if mean, sd := exactMoments(mat.Col(nil, j, z)); math.Abs(mean) > 1e-13 || math.Abs(sd-1) > 1e-13 {
			t.Errorf("%s: mean %v, sd %v", s.Features[j], mean, sd)
		}
	}
	x := linalg.NewMatrix(1000, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = 0.1, float64(i) // the rounded mean of 0.1 need not be 0.1
	}
	z, scaler = Standardize(x)
	fresh, err := scaler.Apply(linalg.Matrix{Rows: 1, Cols: 2, Stride: 2, Data: []float64{7, 499.5}})
	if err != nil || scaler.SD[0] != 0 || scaler.Mean[0] != 0.1 || z.At(7, 0) != 0 ||
		!slices.Equal(fresh.Data, []float64{0, 0}) {
		t.Errorf("mean %v, sd %v, new input %v, %v", scaler.Mean[0], scaler.SD[0], fresh.Data, err)
	}
	const largest, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, column := range [][]float64{{-largest, largest, largest}, {0, least}, {1, 1 + 0x1p-52},
		{1e-310, 3e-310}} {
		z, _ := Standardize(linalg.Matrix{Rows: len(column), Cols: 1, Stride: 1, Data: column})
		for _, v := range z.Data { // among n values none is more than sqrt(n) deviations away
			if !(math.Abs(v) <= 2) {
				t.Errorf("%v became %v", column, z.Data)
			}
		}
	}
	empty, scaler := Standardize(linalg.NewMatrix(0, 3))
	if empty.Rows != 0 || len(scaler.SD) != 3 {
		t.Error("no rows")
	}
	_, err = scaler.Apply(linalg.NewMatrix(1, 2))
	wantError(t, err, "2 features", "has 3")
}
