package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// Reading by ranks, each its part of the bytes of text files or of the rows of arrays. What the parts hold is
// told to all and joined by each, as chunks of a text are by one process (parallel.go). Where that may not be
// what one process reads, or anything is wrong, all ranks read everything, so that answers and errors are
// those of one process.

// loadPart reads this rank's part of plain files of one format; nil on all ranks where that cannot be done.
func loadPart(files []*source, name string, opt Options) *Set {
	r := opt.Ranks
	if !alike(r, files) {
		return nil
	}
	if len(files) == 1 {
		name = files[0].name
	}
	var t *table
	var err error
	switch files[0].format {
	case libsvmFormat:
		return loadSparsePart(files, name, opt)
	case npyFormat:
		if t, err = readArrays(arraysOf(files), name, opt, (*table).planTrainingArray); err == nil {
			err = t.checkNumbers()
		}
		if !everywhere(r, err == nil) {
			return nil
		}
		t.shared = shareOf(r, t.rows)
		t.shareMissing()
	default:
		if t = readTablePart(files, name, opt); t == nil {
			return nil
		}
	}
	if t.missing() > 0 && opt.Missing == MissingError {
		return nil
	}
	s, err := t.set() // where it fails, it does so on all ranks
	if err != nil {
		return nil
	}
	return s
}

// samples is the number of places at which ranks compare files, and sampleLength the bytes there.
const samples, sampleLength = 64, 1 << 12

// alike reports whether ranks see the same files, by their sizes and samples of their bytes, and whether
// these are files of which parts can be read.
func alike(r Ranks, files []*source) bool {
	h := sha256.New()
	err := func() error {
		for _, f := range files {
			size, err := f.plainSize()
			if err != nil {
				return err
			}
			h.Write([]byte{byte(f.format)})
			piece, count := make([]byte, sampleLength), int64(max(2, samples/len(files)))
			for k := range count {
				n, err := f.file.ReadAt(piece, max(0, size-sampleLength)*k/(count-1))
				if err != nil && err != io.EOF {
					return err
				}
				h.Write(piece[:n])
			}
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
		}
		return nil
	}()
	own := ""
	if err == nil && len(files) > 0 {
		own = string(h.Sum(nil))
	}
	all := exchange(r, own)
	return all[0] != "" && len(slices.Compact(all)) == 1
}

// errNoParts says that a file cannot be read in parts.
var errNoParts = errors.New("a file without parts")

// plainSize is the size of a file that can be read from anywhere.
func (s *source) plainSize() (int64, error) {
	if s.file == nil || s.packed || !slices.Contains([]format{tableFormat, libsvmFormat, npyFormat}, s.format) {
		return 0, errNoParts
	}
	info, err := s.file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoParts
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// body is the part of a text file that holds the rows.
type body struct {
	file     *os.File
	from, to int64
}

// partsOf cuts the bodies of files, seen as one text, into as many parts of whole lines as there are ranks,
// and returns those of one.
func partsOf(bodies []body, rank, size int) ([]body, error) {
	total := int64(0)
	for _, b := range bodies {
		total += b.to - b.from
	}
	first, last := total*int64(rank)/int64(size), total*int64(rank+1)/int64(size)
	var parts []body
	for _, b := range bodies {
		length := b.to - b.from
		from, err := b.lineFrom(first)
		to, err2 := b.lineFrom(last)
		if err := cmp.Or(err, err2); err != nil {
			return nil, err
		}
		if from < to {
			parts = append(parts, body{b.file, from, to})
		}
		first, last = first-length, last-length
	}
	return parts, nil
}

// lineFrom is the offset of the first line that starts not before some bytes of a body.
func (b body) lineFrom(bytesBefore int64) (int64, error) {
	if bytesBefore <= 0 {
		return b.from, nil
	}
	piece := make([]byte, sampleBytes)
	for at := b.from + bytesBefore - 1; at < b.to; at += int64(len(piece)) {
		n, err := b.file.ReadAt(piece[:min(int64(len(piece)), b.to-at)], at)
		if end := bytes.IndexByte(piece[:n], '\n'); end >= 0 {
			return at + int64(end) + 1, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return b.to, nil
}

// stream reads the body from its beginning.
func (b body) stream() io.Reader { return io.NewSectionReader(b.file, b.from, b.to-b.from) }

// tableRecord is what a part of a table says of itself.
type tableRecord struct {
	Failed               bool
	Rows, Blank, Skipped int
	Comma, Point         bool
	Cell                 string
	Columns              []columnRecord
}

type columnRecord struct {
	Kind    kind
	Missing int
	Texts   []string
}

// readTablePart reads this rank's part of the rows; nil on all ranks where the whole must be read.
func readTablePart(files []*source, name string, opt Options) *table {
	r := opt.Ranks
	t := &table{file: name, opt: opt}
	p, err := t.readPart(files)
	own := tableRecord{Failed: err != nil}
	if err == nil {
		own = p.record()
	}
	records := exchange(r, own)
	whole := !slices.ContainsFunc(records, func(record tableRecord) bool { return record.Failed })
	for rank := 0; whole && rank < len(records); rank++ {
		rows := p.rows
		if rank != r.Rank() {
			rows = records[rank].table(p.rows)
		}
		whole = t.joinRows(rows)
		t.skipped += records[rank].Skipped
	}
	if !everywhere(r, whole && t.end() == nil) {
		return nil
	}
	t.cells, t.rows = p.rows.cells, p.rows.rows
	t.shared = shareOf(r, t.rows)
	return t
}

// readPart reads the headers of all files, and the rows of this rank's part.
func (t *table) readPart(files []*source) (*tablePart, error) {
	var bodies []body
	for _, f := range files {
		size, err := f.plainSize()
		if err != nil {
			return nil, err
		}
		records, _, err := t.begin(stream{f.name, io.NewSectionReader(f.file, 0, size)}, (*table).planTraining)
		if err != nil {
			return nil, err
		}
		t.files.end(records.lines)
		from := records.lines.offset
		if t.dialect.header != firstLine {
			from = records.start
		}
		bodies = append(bodies, body{f.file, from, size})
	}
	parts, err := partsOf(bodies, t.opt.Ranks.Rank(), t.opt.Ranks.Size())
	if err != nil {
		return nil, err
	}
	p := &tablePart{whole: t, rows: &table{}}
	p.begin()
	for _, b := range parts {
		p.records = recordReader{separator: t.dialect.separator, records: 1, skipped: p.records.skipped,
			unpaired: p.records.unpaired,
			lines:    &lineReader{b: bufio.NewReaderSize(b.stream(), 2*sampleBytes), limit: t.lineLimit()}}
		if err := p.rows.readRows(&p.records); err != nil {
			return nil, err
		}
	}
	if p.records.unpaired {
		return nil, errNoParts
	}
	return p, nil
}

// record is what others must know of the part.
func (p *tablePart) record() tableRecord {
	rows := p.rows
	d := rows.commas
	record := tableRecord{Rows: rows.rows, Blank: rows.blank, Skipped: p.records.skipped, Comma: d.comma > 0,
		Point: d.point > 0, Cell: d.cell}
	for _, j := range rows.used {
		c := &rows.columns[j]
		r := columnRecord{Kind: c.kind, Missing: c.missing}
		if c.others == othersAdded {
			r.Texts = c.texts
		}
		record.Columns = append(record.Columns, r)
	}
	return record
}

// table is a part whose cells another rank has. like is one of the same columns.
func (record tableRecord) table(like *table) *table {
	t := &table{opt: like.opt, columns: slices.Clone(like.columns), used: like.used, features: like.features,
		stride: like.stride,
		rows:   record.Rows, found: found{blank: record.Blank, commas: decimals{possible: like.commas.possible,
			cell: record.Cell}}}
	if record.Comma {
		t.commas.comma = 1
	}
	if record.Point {
		t.commas.point = 1
	}
	for k, j := range t.used {
		c, r := &t.columns[j], record.Columns[k]
		c.kind, c.missing, c.texts = r.Kind, r.Missing, r.Texts
	}
	return t
}

// shareMissing adds up the cells without value of all ranks.
func (t *table) shareMissing() {
	counts := make([]float64, len(t.columns))
	for j, c := range t.columns {
		counts[j] = float64(c.missing)
	}
	sum(t.shared.all(), counts)
	for j := range t.columns {
		t.columns[j].missing = int(counts[j])
	}
}

// sparseRecord is what a part of sparse lines says of itself.
type sparseRecord struct {
	Failed, Labelled   bool
	Rows, Cols, Stored int
}

// loadSparsePart reads this rank's part of sparse lines; nil on all ranks where the whole must be read, and
// where inputs are held sparse.
func loadSparsePart(files []*source, name string, opt Options) *Set {
	r := opt.Ranks
	s := &sparse{x: CSR{Start: []int{0}}}
	err := s.readPart(files, opt)
	records := exchange(r, sparseRecord{err != nil, s.labelled, s.x.Rows, s.x.Cols, s.x.Entries()})
	var all sparseRecord
	for _, record := range records {
		all.Failed = all.Failed || record.Failed || record.Rows > 0 && !record.Labelled
		all.Rows, all.Cols, all.Stored = all.Rows+record.Rows, max(all.Cols, record.Cols), all.Stored+record.Stored
	}
	if all.Failed || all.Rows < 2 || all.Cols == 0 || opt.Storage.sparse(all.Rows, all.Cols, all.Stored) ||
		opt.Target != "" || len(opt.Drop)+len(opt.Categorical) > 0 || opt.checkSize(opt.share(all.Rows),
		all.Cols) != nil {
		return nil
	}
	s.x.Cols = all.Cols
	shared := shareOf(r, s.x.Rows)
	y := shared.gather(s.labels)
	set := &Set{Name: name, Source: name, Task: guessTask(y), Target: "y", Y: y, zeroBased: opt.ZeroBased,
		X: shared.even(s.x.Dense()), Features: numbered(all.Cols), Ranks: r}
	if opt.Positive != "" && set.Classify(opt.Positive) != nil {
		return nil
	}
	return set
}

// readPart reads this rank's part of the lines.
func (s *sparse) readPart(files []*source, opt Options) error {
	var bodies []body
	for _, f := range files {
		size, err := f.plainSize()
		if err != nil {
			return err
		}
		bodies = append(bodies, body{f.file, 0, size})
	}
	parts, err := partsOf(bodies, opt.Ranks.Rank(), opt.Ranks.Size())
	if err != nil {
		return err
	}
	for _, b := range parts {
		if err := s.read(newLineReader(b.stream(), sparseLimit(opt)), opt); err != nil {
			return err
		}
	}
	return nil
}
