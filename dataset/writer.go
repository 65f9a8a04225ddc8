package dataset

import (
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"strings"
)

// Write writes the set as a file of that name holds it: sparse lines for .svm,
// .libsvm and .dat, else comma separated values.
func Write(w io.Writer, path string, s *Set) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svm", ".libsvm", ".dat":
		return WriteLIBSVM(w, s)
	}
	return WriteCSV(w, s)
}

// WriteCSV writes features and target as ReadTable reads them: every number in the
// shortest form that reads back to the same float64. Sparse inputs are refused.
func WriteCSV(w io.Writer, s *Set) error {
	if s.Sparse != nil {
		return &Error{File: s.Name,
			Err: errors.New("sparse inputs have no columns for a CSV file: WriteLIBSVM writes them")}
	}
	out := csv.NewWriter(w)
	record := append(append([]string{}, s.Features...), s.Target)
	if err := out.Write(record); err != nil {
		return err
	}
	for i := range s.N() {
		for j, v := range s.X.Row(i) {
			record[j] = formatNumber(v)
		}
		record[s.D()] = formatNumber(s.Y[i])
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
