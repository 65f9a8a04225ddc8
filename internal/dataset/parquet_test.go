package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"bootbench/internal/testutil"
)

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
