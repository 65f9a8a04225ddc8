package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"bootbench/internal/report"
)

// output is where a study writes: tables and sentences for readers, files for all else.
type output struct {
	io.Writer
	folder string
}

// file writes a file of the folder.
func (o *output) file(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(o.folder, name))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// writeCSV writes structs as lines of a file.
func writeCSV[R any](o *output, name string, rows []R) error {
	return o.file(name, func(w io.Writer) error { return report.WriteRows(w, rows) })
}

// table prints a table with columns as wide as their widest cells.
func (o *output) table(heads []string, cells [][]string) error {
	w := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heads}, cells...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// figures writes pictures, and the numbers in them.
func (o *output) figures(all ...*report.Figure) error {
	for _, f := range all {
		if err := o.file(f.Name+".svg", f.WriteSVG); err != nil {
			return err
		}
		if err := o.file(f.Name+"-figure.csv", f.WriteCSV); err != nil {
			return err
		}
		fmt.Fprintf(o, "%s.svg\n  %s\n", f.Name, f.Caption)
	}
	return nil
}

// number has the digits that a reader can use, and seconds three.
func number[T ~float64](v T) string { return fmt.Sprintf("%.5g", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.3g", v) }
