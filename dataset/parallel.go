package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"runtime"
)

// chunkBytes is the size of the pieces of a text that are parsed at the same time.
const chunkBytes = 1 << 18

// part is what one chunk of a text holds, parsed without the chunks before it.
type part interface {
	// begin empties the part and takes over what the columns are known to hold.
	begin()
	// parse reads all lines of a chunk; an error says that it cannot be read by itself.
	parse(lines *lineReader) error
	// join appends the part to what the chunks before it hold, or returns false, and has changed
	// nothing, where reading on from there might have gone another way.
	join() bool
}

// chunk is a piece of a text that starts and ends with a record.
type chunk struct {
	text  []byte
	end   int // of its records; the rest starts the next chunk
	first int // number of lines before it
	lines *lineReader
	part  part
	err   error
	done  chan struct{}
}

// parse reads a chunk on a goroutine of its own.
func (c *chunk) parse(limit int) {
	c.part.begin()
	c.restart(limit)
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		c.err = c.part.parse(c.lines)
	}()
}

// restart goes to the chunk's first line.
func (c *chunk) restart(limit int) {
	if c.lines == nil {
		c.lines = &lineReader{b: bufio.NewReaderSize(nil, sampleBytes)}
	}
	c.lines.b.Reset(bytes.NewReader(c.text[:c.end]))
	c.lines.number, c.lines.limit = c.first, limit
}

// chunkReader reads records from lines on, in chunks that processors parse at the same time and
// that are joined in their order. What cannot be joined is read again by serial, as is the end
// of the text, so that answer and errors are those of serial alone.
type chunkReader struct {
	lines   *lineReader
	records func(text []byte) int // the length of the whole records of a text that starts with one
	serial  func(lines *lineReader) error
	newPart func() part
	// bytes of a chunk, at least; 0: chunkBytes where there are several processors, negative: all is read by
	// serial
	size int

	queue, free []*chunk
}

// read reads to the end.
func (r *chunkReader) read() error {
	workers := runtime.GOMAXPROCS(0)
	if r.size < 0 || r.size == 0 && workers == 1 {
		return r.serial(r.lines)
	}
	r.size = cmp.Or(r.size, chunkBytes)
	defer func() {
		for _, c := range r.queue {
			<-c.done
		}
	}()
	var rest []byte
	for {
		c := r.take()
		err := r.fill(c, rest)
		if err != nil || c.end == 0 {
			return r.last(c.text, err)
		}
		rest = c.text[c.end:]
		r.lines.number += bytes.Count(c.text[:c.end], []byte{'\n'})
		c.parse(r.lines.limit)
		if r.queue = append(r.queue, c); len(r.queue) > workers {
			if err := r.join(); err != nil {
				return err
			}
		}
	}
}

// take returns an empty chunk.
func (r *chunkReader) take() *chunk {
	if last := len(r.free) - 1; last >= 0 {
		c := r.free[last]
		r.free = r.free[:last]
		return c
	}
	return &chunk{part: r.newPart()}
}

// fill reads text after what the chunk before has left, until it holds a whole record or a line is
// too long.
func (r *chunkReader) fill(c *chunk, rest []byte) error {
	c.first, c.end = r.lines.number, 0
	c.text = append(c.text[:0], rest...)
	for c.end == 0 && len(c.text) <= r.lines.limit {
		old := len(c.text)
		size := max(r.size, 2*old)
		if cap(c.text) < size {
			c.text = append(make([]byte, 0, size), c.text...)
		}
		n, err := io.ReadFull(r.lines.b, c.text[old:size])
		c.text = c.text[:old+n]
		if err != nil {
			return err
		}
		c.end = r.records(c.text)
	}
	return nil
}

// join joins the oldest chunk, or reads it again.
func (r *chunkReader) join() error {
	c := r.queue[0]
	r.queue = r.queue[1:]
	<-c.done
	if c.err != nil || !c.part.join() {
		c.restart(r.lines.limit)
		if err := r.serial(c.lines); err != nil {
			return err
		}
	}
	r.free = append(r.free, c)
	return nil
}

// last reads what is left: text, and what follows it where reading has not ended with an error.
func (r *chunkReader) last(text []byte, err error) error {
	for len(r.queue) > 0 {
		if err := r.join(); err != nil {
			return err
		}
	}
	var after io.Reader = r.lines.b
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		after = failed{err}
	}
	r.lines.b = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(text), after), sampleBytes)
	return r.serial(r.lines)
}

// failed is a reader that has met an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// wholeRecords is the length of the records of a table that end in text, which starts with one:
// those of recordReader.
func wholeRecords(text []byte) int {
	if bytes.IndexByte(text, '"') < 0 {
		return wholeLines(text)
	}
	end, at, open := 0, 0, false
	for {
		line, _, found := bytes.Cut(text[at:], []byte{'\n'})
		if !found {
			return end
		}
		at += len(line) + 1
		if open || !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte{'#'}) {
			open = open != (bytes.Count(line, []byte{'"'})%2 != 0)
		}
		if !open {
			end = at
		}
	}
}

// wholeLines is the length of the lines that end in text.
func wholeLines(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }
