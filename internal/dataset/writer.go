package dataset

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"bootbench/linalg"
)

// Write writes the set in the format of path: sparse lines for .svm, .libsvm and .dat, else CSV.
func Write(w io.Writer, path string, s *Set) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svm", ".libsvm", ".dat":
		return writeLIBSVM(w, s)
	}
	return writeCSV(w, s)
}

// WriteArray writes a matrix as a .npy file, in version 1 of its format.
func WriteArray(w io.Writer, x linalg.Matrix) error {
	const lead, align = "\x93NUMPY\x01\x00", 64 // of the numbers
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", x.Rows, x.Cols)
	header += strings.Repeat(" ", align-1-(len(lead)+2+len(header))%align) + "\n"
	out := bufio.NewWriter(w)
	out.WriteString(lead)
	out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	out.WriteString(header)
	for i := range x.Rows {
		binary.Write(out, binary.LittleEndian, x.Row(i))
	}
	return out.Flush() // the first error of any of these
}

// writeCSV writes features and targets, every number in the shortest form that reads back unchanged.
func writeCSV(w io.Writer, s *Set) error {
	if s.Sparse != nil {
		return errorIn(s.Name, "sparse inputs have no columns for a CSV file: name it .svm")
	}
	out := csv.NewWriter(w)
	record := slices.Clone(s.Features)
	for _, c := range s.Columns {
		record = append(record, c.Name)
	}
	out.Write(record)
	for i := range s.N() {
		record = record[:0]
		for _, v := range s.X.Row(i) {
			record = append(record, formatNumber(v))
		}
		for _, c := range s.Columns {
			record = append(record, c.cell(i))
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error() // the first of any of these
}

// writeLIBSVM writes the set as sparse lines, see CSR.AppendRow. If no example has the last feature, the
// first line gives it as zero, to preserve the number of features. Names of features are lost.
func writeLIBSVM(w io.Writer, s *Set) error {
	x := s.Sparse
	if x == nil {
		x = linalg.NewCSR(s.X)
	}
	out := bufio.NewWriter(w)
	for i := range s.N() {
		out.WriteString(s.Columns[0].cell(i))
		out.Write(x.AppendRow(nil, i))
		if i == 0 && !slices.Contains(x.Index, int32(x.Cols-1)) {
			fmt.Fprintf(out, " %d:0", x.Cols)
		}
		out.WriteByte('\n')
	}
	return out.Flush() // the first error of any of these
}
