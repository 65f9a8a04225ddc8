package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// npyFile writes a NumPy file by its published layout.
func npyFile(version byte, descr, order, shape string, body []byte) []byte {
	return npyRaw(version, fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }      \n", descr,
		order, shape), body)
}

func npyRaw(version byte, header string, body []byte) []byte {
	b := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), body...)
}

// bytesOf encodes numbers in the given element type.
func bytesOf(descr string, values ...float64) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	var b []byte
	for _, v := range values {
		if descr[2] == '4' {
			b = order.AppendUint32(b, math.Float32bits(float32(v)))
		} else {
			b = order.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// TestReadNPY: both versions, orders of bytes and of elements, and integers and booleans, negative ones too.
func TestReadNPY(t *testing.T) {
	check := func(file []byte, what string, x, y []float64) {
		t.Helper()
		s, err := readNPY(bytes.NewReader(file), "f.npy", Options{})
		if err != nil || !slices.Equal(s.X.Data, x) || !slices.Equal(s.Targets(0), y) || !s.AreNumbers() {
			t.Errorf("%s: read %+v, %v", what, s, err)
		}
	}
	inRows := []float64{1, 2, 0.5, 3, 4, 1.5} // two examples: (1,2)->0.5, (3,4)->1.5
	inColumns := []float64{1, 3, 2, 4, 0.5, 1.5}
	for _, version := range []byte{1, 2} {
		for _, descr := range []string{"<f8", ">f8", "<f4", ">f4"} {
			for order, values := range map[string][]float64{"False": inRows, "True": inColumns} {
				check(npyFile(version, descr, order, "(2, 3)", bytesOf(descr, values...)),
					fmt.Sprintf("version %d, %s, Fortran %s", version, descr, order), []float64{1, 2, 3, 4},
					[]float64{0.5, 1.5})
			}
		}
	}
	for descr, body := range map[string][]byte{
		"<i2": {1, 0, 0xfe, 0xff, 3, 0, 4, 0, 5, 0, 6, 0}, ">i2": {0, 1, 0xff, 0xfe, 0, 3, 0, 4, 0, 5, 0, 6},
		"|i1": {1, 0xfe, 3, 4, 5, 6},
	} {
		check(npyFile(1, descr, "False", "(2, 3)", body), descr, []float64{1, -2, 4, 5}, []float64{3, 6})
	}
}

func TestReadNPYRefuses(t *testing.T) {
	four := bytesOf("<f8", 1, 2, 3, 4)
	ok := func(shape string, body []byte) []byte { return npyFile(1, "<f8", "False", shape, body) }
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"version 9":     {npyFile(9, "<f8", "False", "(2, 2)", four), "version 9"},
		"header cut":    {ok("(2, 2)", four)[:20], "damaged"},
		"length cut":    {ok("(2, 2)", four)[:9], "damaged"},
		"header huge":   {append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), four...), "damaged"},
		"no dictionary": {npyRaw(1, "hello", four), "damaged"},
		"order unknown": {npyFile(1, "<f8", "Maybe", "(2, 2)", four), "damaged"},
		"complex":       {npyFile(1, "<c16", "False", "(2, 2)", four), `"<c16"; astype`},
		"named fields": {npyRaw(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 2), }\n",
			four), "structured_to_unstructured"},
		"no dimension":     {ok("()", four), "two dimensions"},
		"one dimension":    {ok("(4,)", four), "only one column: at least one feature; in the last"},
		"three dimensions": {ok("(2, 2, 1)", four), "(2, 2, 1); two dimensions"},
		"negative":         {ok("(-2, 2)", four), "(-2, 2); no examples"},
		"shape beyond int": {ok("(99999999999999999999, 2)", four), "damaged"},
		"no columns":       {ok("(2, 0)", nil), "(2, 0); no examples"},
		"one row":          {ok("(1, 4)", four), "only one example"},
		"too few":          {ok("(2, 3)", four), "ends before; 2 x 3"},
		"too many":         {ok("(1, 2)", four), "more bytes; (1, 2)"},
		"too large":        {ok("(1000000000, 4000000000)", four), "1000000000 rows; EiB; limit"},
		"NaN": {ok("(2, 2)", bytesOf("<f8", 1, 2, math.NaN(), 4)),
			`row 2; column "x1"; missing`},
		"Inf": {ok("(2, 2)", bytesOf("<f8", 1, math.Inf(1), 3, 4)), `row 1; column "y"; +Inf`},
	} {
		_, err := readNPY(bytes.NewReader(c.file), "f.npy", Options{})
		t.Run(name, func(t *testing.T) {
			wantError(t, err, append(strings.Split(c.says, "; "), "f.npy: ")...)
		})
		if name == "too large" && !errors.Is(err, errMemory) {
			t.Errorf("%v is not errMemory", err)
		}
	}
}

// TestArchivesRefused: an archive holds X, and y with a target for each row.
func TestArchivesRefused(t *testing.T) {
	x := npyFile(1, "<f8", "False", "(2, 1)", bytesOf("<f8", 1, 2))
	for says, arrays := range map[string]map[string][]byte{
		`no array X among "u": np.savez`: {"u": nil},
		"no array y":                     {"X": x},
		"y has shape (3, 1), X has 2 rows": {"X": x,
			"y": npyFile(1, "<f8", "False", "(3,)", bytesOf("<f8", 1, 2, 3))},
	} {
		_, err := Load(write(t, "d.npz", npz(arrays)), Options{})
		wantError(t, err, "d.npz", says)
	}
}

// TestReadLIBSVM: lines become a dense set, or a sparse one if there are many features.
func TestReadLIBSVM(t *testing.T) {
	text := "# by hand\n+1 1:0.5 3:-2 # first\r\n\n-1 qid:7 2:1e-3\n1\n-1 \t 4:4   "
	s := testutil.Must(readLIBSVM(strings.NewReader(text), "f.svm", Options{}))(t)
	want := []float64{0.5, 0, -2, 0, 0, 1e-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}
	if s.N() != 4 || !slices.Equal(s.X.Data, want) || !slices.Equal(s.Targets(0), []float64{1, -1, 1, -1}) ||
		!slices.Equal(s.Features, []string{"x1", "x2", "x3", "x4"}) || s.TargetNames() != "y" ||
		s.AreNumbers() {
		t.Errorf("read %+v", s)
	}
	text = "1 1:1 2000:0.5\n-1 3:0 7:-2 # c\n1 qid:1\n"
	s = testutil.Must(readLIBSVM(strings.NewReader(text), "f.svm", Options{}))(t)
	x := s.Sparse
	if x == nil || s.N() != 3 || s.D() != 2000 || s.Features != nil || s.AreNumbers() ||
		!slices.Equal(x.Start, []int{0, 2, 3, 3}) || !slices.Equal(x.Index, []int32{0, 1999, 6}) ||
		!slices.Equal(x.Value, []float64{1, 0.5, -2}) {
		t.Errorf("read %+v", s)
	}
}

// TestWriteLIBSVM: what is written reads back bit by bit, held either way, even where no example has the last
// feature.
func TestWriteLIBSVM(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 8).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "d")
		value := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
			rapid.Float64Range(-1, 1))
		s := &Set{
			X: linalg.Matrix{Rows: n, Cols: d, Stride: d,
				Data: rapid.SliceOfN(value, n*d, n*d).Draw(t, "x")},
			Columns: []Column{{Y: rapid.SliceOfN(value, n, n).Draw(t, "y")}}}
		for _, from := range []*Set{s, {Sparse: linalg.NewCSR(s.X), Columns: s.Columns}} {
			var b bytes.Buffer
			if err := writeLIBSVM(&b, from); err != nil {
				t.Fatal(err)
			}
			lines := testutil.Must(readLines(&b, "f", Options{}))(t)
			if !slices.Equal(lines.x.Dense().Data, s.X.Data) || lines.x.Cols != d ||
				!slices.Equal(lines.labels, s.Targets(0)) {
				t.Fatalf("%v became %v", s.X, lines.x)
			}
		}
	})
	if err := writeLIBSVM(full{}, small()); !errors.Is(err, errBroken) {
		t.Errorf("a failing destination is reported as %v", err)
	}
}

// house is a row of a Parquet file, with every kind of column that is read.
type house struct {
	Index  string   `parquet:"__index_level_0__"`
	Rooms  int32    `parquet:"rooms"`
	Area   *float64 `parquet:"area,optional"`
	Floors uint64   `parquet:"floors"`
	Heat   string   `parquet:"heat,dict"`
	Garden bool     `parquet:"garden"`
	Tax    int64    `parquet:"tax,decimal(2:18)"`
	Debt   [5]byte  `parquet:"debt,decimal(2:11)"`
	Share  float32  `parquet:"share"`
	Price  float64  `parquet:"price"`
}

var heats = []string{"gas", "oil", "wood"}

// debt is 2.56 - i hundredths, in two's complement.
func debt(i int) (b [5]byte) {
	v := binary.BigEndian.AppendUint64(nil, uint64(256-i))
	copy(b[:], v[3:])
	return b
}

func houses(n int) (rows []house) {
	for i := range n {
		area := 50 + float64(i)/3
		h := house{"h" + string(rune('a'+i%26)), int32(i%7 - 1), &area, 1<<63 + uint64(i%4)<<11, heats[i*i%3],
			i%5 < 2, int64(100*i + 25), debt(i), float32(i) / 4, float64(1000 + 7*i)}
		if i%11 == 4 {
			h.Area = nil
		}
		rows = append(rows, h)
	}
	return rows
}

func writeParquet[T any](t *testing.T, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	return write(t, "d.parquet", parquetFile(t, rows, options...))
}

func parquetFile[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for k := 0; k < len(rows); k += 40 { // row groups
		testutil.Must(w.Write(rows[k:min(k+40, len(rows))]))(t)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestParquet: a Parquet file of any compression and page size becomes the same set as CSV of the same rows:
// missing cells, texts, booleans, decimals and pandas' index included; new inputs likewise.
func TestParquet(t *testing.T) {
	rows := houses(100)
	text := ",rooms,area,floors,heat,garden,tax,debt,share,price\n"
	for i, h := range rows {
		area, garden := "", "False"
		if h.Area != nil {
			area = formatNumber(*h.Area)
		}
		if h.Garden {
			garden = "True"
		}
		text += strings.Join([]string{h.Index, formatNumber(float64(h.Rooms)), area,
			formatNumber(float64(h.Floors)), h.Heat, garden, formatNumber(float64(h.Tax) / 100),
			formatNumber(float64(256-i) / 100),
			formatNumber(float64(h.Share)), formatNumber(h.Price)}, ",") + "\n"
	}
	opt := Options{Missing: MissingMean}
	want := testutil.Must(readTable(strings.NewReader(text), "d.csv", opt))(t)
	inputs := testutil.Must(readInputs(strings.NewReader(text), tableFormat, "d.csv", want.Encoding(),
		opt))(t)
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
		for _, page := range []int{200, 1 << 16} { // bytes
			path := writeParquet(t, rows, parquet.Compression(codec), parquet.PageBufferSize(page))
			got, err := Load(path, opt)
			if err != nil {
				t.Fatal(codec, page, err)
			}
			if !slices.Equal(got.X.Data, want.X.Data) || !slices.Equal(got.Targets(0), want.Targets(0)) ||
				!slices.Equal(got.Features, want.Features) || !slices.Equal(got.RowNames, want.RowNames) ||
				got.TargetNames() != "price" {
				t.Fatalf("%v, pages %d: %v %v, from CSV %v %v", codec, page, got.Features, got.X.Data[:20],
					want.Features, want.X.Data[:20])
			}
			in, err := want.Encoding().LoadInputs(path, opt)
			if err != nil || !slices.Equal(in.X.Data, inputs.X.Data) || !slices.Equal(in.Targets(0),
				inputs.Targets(0)) {
				t.Fatalf("new inputs: %v %v", err, in)
			}
		}
	}
	_, err := Load(writeParquet(t, rows), Options{})
	wantError(t, err, "row 5")
	labels, err := Load(writeParquet(t, rows), Options{Missing: MissingMean, Target: "garden",
		Drop: []string{"price"}})
	if err != nil || len(labels.Levels()) != 2 || labels.Levels()[1] != "True" {
		t.Errorf("a boolean target: %v %+v", err, labels)
	}
}

// TestParquetRefused: files that are damaged, too large or no table of numbers and texts are errors, never
// panics.
func TestParquetRefused(t *testing.T) {
	type nested struct {
		A []float64 `parquet:"a,list"`
		X float64   `parquet:"x"`
		Y float64   `parquet:"y"`
	}
	type dated struct {
		When time.Time `parquet:"when,timestamp"`
		X    float64   `parquet:"x"`
		Y    float64   `parquet:"y"`
	}
	type pair struct {
		X float64 `parquet:"x"`
		Y float64 `parquet:"y"`
	}
	refused := func(path string, opt Options, says ...string) {
		t.Helper()
		_, err := Load(path, opt)
		wantError(t, err, says...)
	}
	list := writeParquet(t, []nested{{[]float64{1}, 1, 2}, {nil, 2, 3}})
	refused(list, Options{}, `column "a"`, "lists", "ReadOptions.Drop")
	set := testutil.Must(Load(list, Options{Drop: []string{"a"}}))(t)
	if set.D() != 1 || !slices.Equal(set.Targets(0), []float64{2, 3}) {
		t.Errorf("without the lists: %+v", set)
	}
	day := time.Date(2024, 2, 29, 18, 30, 0, 0, time.UTC)
	set = testutil.Must(Load(writeParquet(t, []dated{{day, 1, 2}, {day.AddDate(0, 0, 3), 2, 3}}),
		Options{}))(t)
	if !slices.Equal(set.X.Row(1), []float64{2024, 3, 7, 19785 + 18.5/24, 18.5, 2}) {
		t.Errorf("timestamps: %q %v", set.Features, set.X.Row(1))
	}
	refused(writeParquet(t, []pair{{1, 2}, {math.Inf(1), 3}}), Options{}, `column "x"`, "row 2", "finite")
	refused(writeParquet(t, []pair{{1, 2}}), Options{}, "at least two are needed")
	good := writeParquet(t, houses(90))
	refused(good, Options{MaxBytes: 1000}, "limit")
	raw := testutil.Must(os.ReadFile(good))(t)
	for _, b := range [][]byte{nil, []byte("a,b\n1,2\n"), raw[:len(raw)/2], raw[:len(raw)-3], raw[100:]} {
		refused(write(t, "d.parquet", b), Options{}, "Parquet")
	}
	for k := 4; k < len(raw); k += 1 + len(raw)/150 { // any byte: an error or a set, nothing else
		b := bytes.Clone(raw)
		b[k] ^= 0x55
		set, err := Load(write(t, "d.parquet", b), Options{Missing: MissingMean})
		if err == nil && set.N() != 90 {
			t.Errorf("byte %d: %d rows", k, set.N())
		}
	}
	refused(write(t, "d.csv", raw), Options{}, ".parquet")
}
