package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads a data set from wherever path points:
//
//   - "-": Options.Stdin, as CSV;
//   - "synthetic:NAME,n=2000,seed=1,...": generated, see ParseSynthetic;
//   - the name of an embedded set, see Names;
//   - a file: .csv (ReadCSV), .svm, .libsvm or .dat (ReadLIBSVM), .npy (ReadNPY).
//
// A file whose name is that of an embedded set is reached as ./NAME.
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
	f, format, err := open(path, opt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := displayName(path)
	switch format {
	case libsvmFormat:
		return ReadLIBSVM(f, name, opt)
	case npyFormat:
		return ReadNPY(f, name, opt)
	default:
		return ReadCSV(f, name, opt)
	}
}

// format is a file format.
type format int

const (
	csvFormat format = iota
	libsvmFormat
	npyFormat
)

// open opens a file or standard input.
func open(path string, opt Options) (io.ReadCloser, format, error) {
	if path == "-" {
		if opt.Stdin == nil {
			return nil, 0, &Error{File: displayName(path), Err: errors.New("not available here")}
		}
		return io.NopCloser(opt.Stdin), csvFormat, nil
	}
	kind, known := formatOf(path)
	info, err := os.Stat(path)
	switch {
	case err != nil && !known && filepath.Ext(path) == "" && !strings.ContainsAny(path, `/\`):
		return nil, 0, &Error{File: path, Err: fmt.Errorf("neither a file nor an embedded set (%s)", strings.Join(Names(), ", "))}
	case err != nil:
		return nil, 0, &Error{File: path, Err: reason(err)}
	case info.IsDir():
		return nil, 0, &Error{File: path, Err: errors.New("is a directory")}
	case !known:
		return nil, 0, &Error{File: path, Err: errors.New("unknown extension: .csv, .svm, .libsvm, .dat or .npy is needed")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, &Error{File: path, Err: reason(err)}
	}
	return f, kind, nil
}

// formatOf reads the format off the extension.
func formatOf(path string) (kind format, known bool) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return csvFormat, true
	case ".svm", ".libsvm", ".dat":
		return libsvmFormat, true
	case ".npy":
		return npyFormat, true
	}
	return 0, false
}

// displayName is the path as messages show it.
func displayName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}
