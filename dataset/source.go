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
//   - a file: .csv and .tsv (a table, see ReadTable), .svm and .libsvm (sparse lines), .txt, .data
//     and .dat (either, which is detected), .npy, .npz (arrays X and y), .parquet;
//   - several files of a kind as one table, by a pattern such as rows-*.csv (see
//     filepath.Match): text or .npy, with the same columns, in the order of their names.
//
// Text and .npy may be compressed by gzip or zstd, with .gz or .zst after the
// other extension. A file whose name is that of an embedded set is reached as
// ./NAME.
func Load(path string, opt Options) (*Set, error) {
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
	files, name, err := openAll(path, opt)
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	if files[0].format == libsvmFormat {
		return readSparseSet(streams(files), name, opt)
	}
	t, err := readAny(files, name, opt, func(t *table) error {
		if files[0].format == npzFormat && t.columns[len(t.columns)-1].name != "y" {
			return errors.New("the archive has no array y: np.savez(file, X=X, y=y) writes both")
		}
		return t.planTraining()
	})
	if err != nil {
		return nil, err
	}
	return t.set()
}

// readAny reads files as one table, after plan has given its columns their roles.
func readAny(files []*source, name string, opt Options, plan func(t *table) error) (*table, error) {
	var t *table
	var err error
	switch f := files[0]; f.format {
	case npyFormat:
		t, err = readArrays(files, name, opt, plan)
	case npzFormat:
		t, err = readArchive(f, opt, plan)
	case parquetFormat:
		t, err = readParquet(f, opt, plan)
	default:
		t, err = readTable(streams(files), name, opt, plan)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return t, nil
}

// streams are files as texts.
func streams(files []*source) (texts []stream) {
	for _, f := range files {
		texts = append(texts, stream{f.name, f.text})
	}
	return texts
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

// openAll opens the files of a path, which are of one kind; name is that of a single file or of them all.
func openAll(path string, opt Options) (files []*source, name string, err error) {
	paths, err := Files(path)
	if err != nil {
		return nil, "", err
	}
	name = printable(path)
	for _, p := range paths {
		f, err := open(p, opt)
		if err == nil {
			files = append(files, f)
			err = f.joins(files[0], name, len(paths))
		}
		if err != nil {
			closeAll(files)
			return nil, "", err
		}
	}
	if len(files) == 1 {
		name = files[0].name
	}
	return files, name, nil
}

// joins refuses a file that makes no table with the first of several.
func (s *source) joins(first *source, path string, count int) error {
	switch {
	case count == 1:
	case s.format != first.format:
		return &Error{File: s.name,
			Err: fmt.Errorf("is another kind of file than %s: files of one table are alike", first.name)}
	case s.format == npzFormat || s.format == parquetFormat:
		return &Error{File: path,
			Err: errors.New("several files are read as one table if they are .csv, .tsv, .txt, .data, .dat, .svm, " +
				".libsvm or .npy")}
	}
	return nil
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
	text   *bufio.Reader // decompressed
	file   *os.File      // nil for a stream
	size   int64         // bytes of text; negative: nobody knows
	unzip  *zstd.Decoder
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
	s := &source{name: printable(path), format: eitherText, size: -1}
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
	if s.format == npzFormat || s.format == parquetFormat { // read from anywhere, not compressed
		return s, nil
	}
	if err := s.decompress(bufio.NewReaderSize(r, 2*sampleBytes)); err != nil {
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
			Err: fmt.Errorf("unknown extension: .csv, .tsv, .txt, .data, .dat, .svm, .libsvm, .npy, .npz or "+
				".parquet is needed%s", cureFor(path))}
	}
	if s.file, err = os.Open(path); err != nil {
		return &Error{File: path, Err: reason(err)}
	}
	if info.Mode().IsRegular() {
		s.size = info.Size()
	}
	return nil
}

// formatOf reads the format off the extension, without that of a compression.
func formatOf(path string) format {
	path = strings.ToLower(path)
	for _, compressed := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, compressed)
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
	case ".bz2", ".xz", ".zip", ".7z":
		return "; decompress it first, or compress it by gzip or zstd"
	case ".feather", ".arrow", ".h5", ".pkl", ".json", ".rds", ".rdata", ".sav", ".dta", ".arff", ".mat":
		return "; save the table as CSV or the array as .npy"
	}
	return ""
}

// decompress undoes the compression that the first bytes show.
func (s *source) decompress(b *bufio.Reader) error {
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
		return fmt.Errorf("decompressing: %w", err)
	}
	s.text, s.size = bufio.NewReaderSize(r, 2*sampleBytes), -1
	return nil
}
