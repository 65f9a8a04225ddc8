package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// format is a file format.
type format int

const (
	unknownFormat format = iota
	tableFormat
	libsvmFormat
	eitherText // a table or sparse lines
	npyFormat
	npzFormat
	parquetFormat
)

// formats are the formats by extension, without that of a compression.
var formats = map[string]format{
	".csv": tableFormat, ".tsv": tableFormat, ".tab": tableFormat,
	".svm": libsvmFormat, ".libsvm": libsvmFormat,
	".txt": eitherText, ".data": eitherText, ".dat": eitherText,
	".npy": npyFormat, ".npz": npzFormat, ".parquet": parquetFormat,
}

// Files lists the files that a path of Load or LoadInputs names: that file, which may not be there, or those
// that it matches as a pattern, in the order of their names.
func Files(path string) ([]string, error) {
	if _, err := os.Stat(path); err == nil || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	paths, err := filepath.Glob(path)
	if err == nil && len(paths) == 0 {
		err = errors.New("no file has such a name")
	}
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	return paths, nil
}

// source is an opened file or stream.
type source struct {
	name   string // as messages show it
	format format
	text   *bufio.Reader // decompressed
	file   *os.File      // nil for a stream
	size   int64         // bytes of text, negative if that is not known
}

func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// open opens a file or standard input and finds its format.
func open(path string, opt Options) (s *source, err error) {
	s = &source{name: printable(path), format: eitherText, size: -1}
	r := opt.Stdin
	if path == "-" {
		s.name = "standard input"
		if r == nil {
			return nil, errorIn(s.name, "not available here")
		}
	} else if err := s.openFile(path); err != nil {
		return nil, &Error{File: path, Err: reason(err)}
	} else {
		r = s.file
	}
	if s.format == npzFormat || s.format == parquetFormat { // read from anywhere, not compressed
		return s, nil
	}
	if err := s.decompress(bufio.NewReader(r)); err != nil {
		s.close()
		return nil, errorIn(s.name, "decompressing: %w", err)
	}
	if s.format == eitherText {
		s.format = tableFormat
		if sample, _ := s.text.Peek(sampleBytes); isSparse(sample) {
			s.format = libsvmFormat
		}
	}
	return s, nil
}

// openFile opens a file that exists and has a known extension.
func (s *source) openFile(path string) error {
	plain := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	s.format = formats[filepath.Ext(plain)]
	info, err := os.Stat(path)
	switch {
	case err != nil && s.format == unknownFormat && filepath.Ext(path) == "" && !strings.ContainsAny(path, `/\`):
		return fmt.Errorf("neither a file nor an embedded set (%s)", strings.Join(Names(), ", "))
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case s.format == unknownFormat:
		return errors.New("unknown extension: .csv, .tsv, .txt, .data, .dat, .svm, .libsvm, .npy, .npz or " +
			".parquet is needed; save a sheet or a table as CSV, an array as .npy")
	}
	if info.Mode().IsRegular() {
		s.size = info.Size()
	}
	s.file, err = os.Open(path)
	return err
}

// decompress undoes the compression that the first bytes show.
func (s *source) decompress(b *bufio.Reader) (err error) {
	var r io.Reader = b
	lead, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(lead, []byte("\x1f\x8b")):
		r, err = gzip.NewReader(b)
		s.size = -1
	case bytes.HasPrefix(lead, []byte("\x28\xb5\x2f\xfd")): // no goroutine, and a window of at most 64 MiB
		r, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<26))
		s.size = -1
	}
	if err == nil {
		s.text = newText(r)
	}
	return err
}

// newText buffers the sample that is looked at before reading begins, and skips the UTF-8 byte order mark.
func newText(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, 2*sampleBytes)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b
}
