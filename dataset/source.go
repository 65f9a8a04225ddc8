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
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Load reads a data set from wherever path points:
//
//   - "-": Options.Stdin, a table or sparse lines;
//   - "synthetic:NAME,n=2000,seed=1,...": generated, see ParseSynthetic;
//   - the name of an embedded set, see Names;
//   - a file: .csv and .tsv (ReadTable), .svm and .libsvm (ReadLIBSVM), .txt, .data
//     and .dat (either, by looking), .npy (ReadNPY), .npz (arrays X and y), .parquet;
//   - several files of a kind as one table, by a pattern such as rows-*.csv (see
//     filepath.Match): text or .npy, with the same columns, in the order of their names.
//
// Text may be packed by gzip or zstd, with .gz or .zst after the
// other extension. A file whose name is that of an embedded set is reached as
// ./NAME.
//
// With Options.Ranks every rank gets its part of the inputs, see Set.Ranks, or an error.
func Load(path string, opt Options) (*Set, error) {
	if opt.Ranks == nil {
		return load(path, opt)
	}
	r := opt.Ranks
	opt.Ranks = nil
	s, err := load(path, opt)
	if err := r.Agree(err); err != nil {
		return nil, err
	}
	return s.Spread(r)
}

// load reads all of a data set.
func load(path string, opt Options) (*Set, error) {
	switch {
	case strings.HasPrefix(path, syntheticPrefix):
		spec, err := ParseSynthetic(path)
		if err != nil {
			return nil, err
		}
		return spec.Generate(opt)
	case slices.Contains(Names(), path):
		return Open(path)
	}
	files, err := openAll(path, opt)
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	name, texts, err := together(files, path)
	if err != nil {
		return nil, err
	}
	switch f := files[0]; f.format {
	case libsvmFormat:
		return readSparseSet(texts, name, opt)
	case npyFormat:
		t, err := readArrayFiles(files, name, opt, (*table).planTrainingArray)
		if err != nil {
			return nil, err
		}
		return t.trainingArray()
	case npzFormat:
		return readNPZ(f, opt)
	case parquetFormat:
		return readParquet(f, opt)
	default:
		return readTableSet(texts, name, opt)
	}
}

// together are files as the parts of one table, by the name of a single one or of them all.
func together(files []*source, path string) (name string, texts []stream, err error) {
	for _, f := range files {
		texts = append(texts, stream{f.name, f.text})
		switch {
		case len(files) == 1:
			path = f.name
		case f.format != files[0].format:
			return path, nil, &Error{File: f.name,
				Err: fmt.Errorf("is another kind of file than %s: files of one table are alike", files[0].name)}
		case f.format == npzFormat || f.format == parquetFormat:
			return path, nil, &Error{File: path,
				Err: errors.New("several files are read as one table if they are .csv, .tsv, .txt, .data, .dat, .svm, .libsvm or .npy")}
		}
	}
	return path, texts, nil
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

// openAll opens the files of a path.
func openAll(path string, opt Options) (files []*source, err error) {
	paths, err := Files(path)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		f, err := open(p, opt)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*source) {
	for _, f := range files {
		f.close()
	}
}

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

// source is an opened file or stream.
type source struct {
	name   string // as messages show it
	format format
	text   *bufio.Reader // unpacked
	file   *os.File      // nil for a stream
	unzip  *zstd.Decoder
	packed bool
}

// array is the source of an array.
func (s *source) array() arraySource {
	if s.packed {
		return arraySource{name: s.name, stream: s.text}
	}
	return arraySource{s.name, s.text, s.file}
}

// arraysOf are the sources of arrays.
func arraysOf(files []*source) []arraySource {
	arrays := make([]arraySource, len(files))
	for k, f := range files {
		arrays[k] = f.array()
	}
	return arrays
}

func (s *source) close() {
	if s.unzip != nil {
		s.unzip.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
}

// open opens a file or standard input and finds its format.
func open(path string, opt Options) (*source, error) {
	s := &source{name: path, format: eitherText}
	r := opt.Stdin
	if path == "-" {
		s.name = "standard input"
		if r == nil {
			return nil, &Error{File: s.name, Err: errors.New("not available here")}
		}
	} else if err := s.openFile(path); err != nil {
		return nil, err
	} else {
		r = s.file
	}
	if s.format == npzFormat || s.format == parquetFormat { // read from anywhere, not packed
		return s, nil
	}
	if err := s.unpack(bufio.NewReaderSize(r, 2*sampleBytes)); err != nil {
		s.close()
		return nil, &Error{File: s.name, Err: err}
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
	s.format = formatOf(path)
	info, err := os.Stat(path)
	switch {
	case err != nil && s.format == unknownFormat && filepath.Ext(path) == "" && !strings.ContainsAny(path, `/\`):
		return &Error{File: path, Err: fmt.Errorf("neither a file nor an embedded set (%s)",
			strings.Join(Names(), ", "))}
	case err != nil:
		return &Error{File: path, Err: reason(err)}
	case info.IsDir():
		return &Error{File: path, Err: errors.New("is a directory")}
	case s.format == unknownFormat:
		return &Error{File: path,
			Err: fmt.Errorf("unknown extension: .csv, .tsv, .txt, .data, .dat, .svm, .libsvm, .npy, .npz or .parquet is needed%s", cureFor(path))}
	}
	if s.file, err = os.Open(path); err != nil {
		return &Error{File: path, Err: reason(err)}
	}
	return nil
}

// formatOf reads the format off the extension, without that of the packer.
func formatOf(path string) format {
	path = strings.ToLower(path)
	for _, packer := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, packer)
	}
	switch filepath.Ext(path) {
	case ".csv", ".tsv", ".tab":
		return tableFormat
	case ".svm", ".libsvm":
		return libsvmFormat
	case ".txt", ".data", ".dat":
		return eitherText
	case ".npy":
		return npyFormat
	case ".npz":
		return npzFormat
	case ".parquet":
		return parquetFormat
	}
	return unknownFormat
}

// cureFor says what makes a file of another kind readable.
func cureFor(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".xlsx", ".xls", ".ods":
		return "; save the sheet as CSV"
	case ".feather", ".arrow", ".h5", ".pkl", ".json", ".rds", ".rdata", ".sav", ".dta", ".arff", ".mat":
		return "; save the table as CSV or the array as .npy"
	}
	return ""
}

// unpack undoes the packing that the first bytes show.
func (s *source) unpack(b *bufio.Reader) error {
	s.text = b
	lead, _ := b.Peek(4)
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(lead, []byte("\x1f\x8b")):
		r, err = gzip.NewReader(b)
	case bytes.HasPrefix(lead, []byte("\x28\xb5\x2f\xfd")):
		// One goroutine and a window of at most 64 MiB bound the memory.
		s.unzip, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<26))
		r = s.unzip
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	s.text, s.packed = bufio.NewReaderSize(r, 2*sampleBytes), true
	return nil
}
