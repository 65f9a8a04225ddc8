package dataset

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// arrayFile is a NumPy array in a file that can be read from anywhere. Its elements are decoded
// straight into the matrix of the features and the targets, in blocks of rows at the same time.
//
// Blocks are read by pread, not mapped into memory: a file that is cut short in the meantime is
// an error then, not the end of the process, and copying a million rows of 9 takes 0.05 s
// (doc/decisions/0019).
type arrayFile struct {
	h           arrayHeader
	from        io.ReaderAt
	first, rows int // those to be read
}

// arrayBlock is about the size of a block of rows in the file.
const arrayBlock = 1 << 20

// placed are the features and the targets of an array, each where it stays.
type placed struct {
	x     Matrix
	y     []float64
	place []int // of each column: that of its feature in x, isTarget or isUnused
}

const (
	isTarget = -1
	isUnused = -2
)

// newPlaced makes room for the columns that have a role.
func newPlaced(rows int, columns []column) *placed {
	p := &placed{}
	features := 0
	for _, c := range columns {
		switch c.role {
		case asFeature:
			p.place = append(p.place, features)
			features++
		case asTarget:
			p.place = append(p.place, isTarget)
			p.y = make([]float64, rows)
		default:
			p.place = append(p.place, isUnused)
		}
	}
	p.x = NewMatrix(rows, features)
	return p
}

// tail is what holds rows from one on.
func (p *placed) tail(first int) *placed {
	tail := &placed{x: p.x, place: p.place}
	tail.x.Rows, tail.x.Data = p.x.Rows-first, p.x.Data[first*p.x.Stride:]
	if p.y != nil {
		tail.y = p.y[first:]
	}
	return tail
}

// at is an element of column j, 0 where that has no role.
func (p *placed) at(i, j int) float64 {
	switch f := p.place[j]; f {
	case isUnused:
		return 0
	case isTarget:
		return p.y[i]
	default:
		return p.x.Data[i*p.x.Stride+f]
	}
}

// holds reports whether x is the matrix of the features of s.
func (p *placed) holds(t *table, s *schema) bool {
	if s.width != p.x.Cols || len(s.columns) != s.width {
		return false
	}
	for j, f := range p.place {
		if f >= 0 && (t.columns[j].role != asFeature || s.columns[f].name != t.columns[j].name ||
			s.columns[f].at != f || s.columns[f].levels != nil) {
			return false
		}
	}
	return true
}

// read reads its rows.
func (f *arrayFile) read(to *placed) error {
	row := f.h.cols * f.h.size
	height := max(1, arrayBlock/row)
	blocks := (f.rows + height - 1) / height
	failures := make([]error, blocks)
	var crew sync.WaitGroup
	next := make(chan int, blocks)
	for b := range blocks {
		next <- b
	}
	close(next)
	for range min(runtime.GOMAXPROCS(0), blocks) {
		crew.Add(1)
		go func() {
			defer crew.Done()
			buffer, values := make([]byte, height*row), make([]float64, height*f.h.cols)
			for b := range next {
				failures[b] = f.readRows(to, b*height, min(f.rows, (b+1)*height), buffer, values)
			}
		}()
	}
	crew.Wait()
	return cmp.Or(failures...)
}

// readRows reads rows first to last-1 of those to be read, whose elements stand together in the file or, in
// Fortran order, in each column.
func (f *arrayFile) readRows(to *placed, first, last int, buffer []byte, values []float64) error {
	rows, cols, size := last-first, f.h.cols, f.h.size
	pieces, length, stride := 1, rows*cols, 0
	if f.h.fortran {
		pieces, length, stride = cols, rows, f.h.rows
	}
	for j := range pieces {
		piece := buffer[j*length*size : (j+1)*length*size]
		offset := f.h.length + int64(size)*(int64(j)*int64(stride)+int64(f.first+first)*int64(length/rows))
		if n, err := f.from.ReadAt(piece, offset); n < len(piece) {
			if err == io.EOF {
				err = f.h.errShort()
			}
			return err
		}
	}
	f.h.decode(values[:rows*cols], buffer)
	rowStep, colStep := cols, 1 // of values
	if f.h.fortran {
		rowStep, colStep = 1, rows
	}
	for j, feature := range to.place {
		into, step := to.x.Data[first*to.x.Stride:], to.x.Stride
		switch feature {
		case isUnused:
			continue
		case isTarget:
			into, step, feature = to.y[first:], 1, 0
		}
		for i := range rows {
			into[i*step+feature] = values[i*rowStep+j*colStep]
		}
	}
	return nil
}

// errShort says that there are fewer elements than the header announces.
func (h *arrayHeader) errShort() error {
	return fmt.Errorf("the file ends before the %d x %d elements of its shape", h.rows, h.cols)
}

// errLong says that there are more.
func (h *arrayHeader) errLong() error {
	return fmt.Errorf("more bytes than shape (%d, %d) accounts for", h.rows, h.cols)
}
