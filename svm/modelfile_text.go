package svm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// longestLine bounds one line of a model file, in bytes.
const longestLine = 1 << 26

// ReadModelFile reads a model file of LIBSVM: a classifier of two classes with a
// linear, polynomial, rbf or precomputed kernel. An error names the line. Memory
// grows with what the file holds, never with the numbers that it announces.
func ReadModelFile(r io.Reader) (*ModelFile, error) {
	p := &modelReader{lines: bufio.NewScanner(r), seen: map[string]bool{}}
	p.lines.Buffer(nil, longestLine)
	if err := p.header(); err != nil {
		return nil, p.at(err)
	}
	if err := p.vectors(); err != nil {
		return nil, p.at(err)
	}
	if err := p.model.Check(); err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	return &p.model, nil
}

// modelReader is a model file while it is read.
type modelReader struct {
	lines *bufio.Scanner
	line  int
	seen  map[string]bool
	model ModelFile
	total int
}

// at adds the line to an error.
func (p *modelReader) at(err error) error { return fmt.Errorf("model file, line %d: %w", p.line, err) }

// next moves to the next line. Without one its error is io.ErrUnexpectedEOF or
// what the reader reports.
func (p *modelReader) next() error {
	p.line++
	if p.lines.Scan() {
		return nil
	}
	if err := p.lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// header reads up to the line SV.
func (p *modelReader) header() error {
	for {
		if err := p.next(); err != nil {
			return err
		}
		fields := strings.Fields(p.lines.Text())
		if len(fields) == 0 {
			continue
		}
		key, values := fields[0], fields[1:]
		if p.seen[key] {
			return fmt.Errorf("%.20q is given twice", key)
		}
		p.seen[key] = true
		if key == "SV" {
			return p.complete()
		}
		if err := p.entry(key, values); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
}

// entry takes one line of the header.
func (p *modelReader) entry(key string, values []string) (err error) {
	m := &p.model
	want := 1
	if key == "label" || key == "nr_sv" {
		want = 2
	}
	if len(values) != want {
		return fmt.Errorf("%d values, not %d: only classifiers of two classes are read", len(values), want)
	}
	switch key {
	case "svm_type":
		if values[0] != "c_svc" {
			err = fmt.Errorf("%.20q is not c_svc", values[0])
		}
	case "kernel_type":
		kind := slices.Index(fileKernels(), values[0])
		if kind < 0 {
			return fmt.Errorf("%.20q is not one of %s", values[0], strings.Join(fileKernels(), ", "))
		}
		m.Kernel = FileKernel(kind)
	case "degree":
		m.Degree, err = parseWhole(values[0])
	case "gamma":
		m.Gamma, err = parseFinite(values[0])
	case "coef0":
		m.Coef0, err = parseFinite(values[0])
	case "rho":
		m.Rho, err = parseFinite(values[0])
	case "nr_class":
		if values[0] != "2" {
			err = fmt.Errorf("%.20q classes, not 2", values[0])
		}
	case "total_sv":
		p.total, err = parseWhole(values[0])
	case "label":
		err = parsePair(&m.Label, values)
	case "nr_sv":
		err = parsePair(&m.NSV, values)
	case "probA", "probB", "prob_density_marks":
	default:
		err = errors.New("not a line of a model file")
	}
	return err
}

// complete reports what is missing in the header, or given in vain.
func (p *modelReader) complete() error {
	need := []string{"svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv"}
	switch p.model.Kernel {
	case FilePoly:
		need = append(need, "degree", "gamma", "coef0")
	case FileRBF:
		need = append(need, "gamma")
	}
	for _, key := range need {
		if !p.seen[key] {
			return fmt.Errorf("the line %s is missing above", key)
		}
	}
	for _, key := range []string{"degree", "gamma", "coef0"} {
		if p.seen[key] && !slices.Contains(need, key) {
			return fmt.Errorf("%s is of no use to a %v kernel", key, p.model.Kernel)
		}
	}
	return nil
}

// vectors reads the support vectors.
func (p *modelReader) vectors() error {
	m := &p.model
	if m.Kernel != FilePrecomputed {
		m.Start = []int{0}
	}
	for len(m.Coef) < p.total {
		if err := p.next(); err != nil {
			return fmt.Errorf("support vector %d of %d: %w", len(m.Coef)+1, p.total, err)
		}
		if err := p.vector(p.lines.Text()); err != nil {
			return err
		}
	}
	for p.lines.Scan() {
		p.line++
		if strings.TrimSpace(p.lines.Text()) != "" {
			return fmt.Errorf("more than the %d support vectors announced", p.total)
		}
	}
	return p.lines.Err()
}

// vector reads "coefficient index:value ...", or "coefficient 0:number".
func (p *modelReader) vector(text string) error {
	m := &p.model
	first, previous, serials := true, 0, 0
	for field := range strings.FieldsSeq(text) {
		if first {
			first = false
			coef, err := parseFinite(field)
			if err != nil {
				return err
			}
			m.Coef = append(m.Coef, coef)
			continue
		}
		left, right, ok := strings.Cut(field, ":")
		if !ok {
			return fmt.Errorf("%.40q is not index:value", field)
		}
		index, err := parseWhole(left)
		if err != nil {
			return err
		}
		if m.Kernel == FilePrecomputed {
			number, err := parseWhole(right)
			if serials++; err != nil || index != 0 || number < 1 || serials > 1 {
				return fmt.Errorf("%.40q, but a support vector of a precomputed kernel is one 0:number", field)
			}
			m.Serial = append(m.Serial, number-1)
			continue
		}
		if index <= previous {
			return fmt.Errorf("feature index %d follows %d: indices start at 1 and ascend", index, previous)
		}
		previous = index
		value, err := parseFinite(right)
		if err != nil {
			return err
		}
		m.Index, m.Value = append(m.Index, int32(index-1)), append(m.Value, value)
	}
	switch {
	case first:
		return errors.New("an empty line, where a support vector is due")
	case m.Kernel != FilePrecomputed:
		m.Start = append(m.Start, len(m.Index))
	case serials == 0:
		return errors.New("the number of the support vector is missing")
	}
	return nil
}

// parseWhole reads an integer from 0 to 2^31-1.
func parseWhole(text string) (int, error) {
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a whole number from 0 to %d", text, math.MaxInt32)
	}
	return int(v), nil
}

// parsePair reads two integers of 32 bits.
func parsePair(pair *[2]int, values []string) error {
	for k, text := range values {
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%.40q is not a whole number", text)
		}
		pair[k] = int(v)
	}
	return nil
}

func parseFinite(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !isFiniteNumber(v) {
		return 0, fmt.Errorf("%.40q is not a finite number", text)
	}
	return v, nil
}

// Write writes m, after Check, as ReadModelFile and LIBSVM's tools read it. Every
// number is in the shortest form that reads back to the same float64.
func (m *ModelFile) Write(w io.Writer) error {
	if err := m.Check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "svm_type c_svc\nkernel_type %v\n", m.Kernel)
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "degree %d\n", m.Degree)
	}
	if m.Kernel == FilePoly || m.Kernel == FileRBF {
		fmt.Fprintf(out, "gamma %v\n", m.Gamma)
	}
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "coef0 %v\n", m.Coef0)
	}
	fmt.Fprintf(out, "nr_class 2\ntotal_sv %d\nrho %v\nlabel %d %d\nnr_sv %d %d\nSV\n",
		len(m.Coef), m.Rho, m.Label[0], m.Label[1], m.NSV[0], m.NSV[1])
	var line []byte
	for k, c := range m.Coef {
		line = append(strconv.AppendFloat(line[:0], c, 'g', -1, 64), ' ')
		if m.Kernel == FilePrecomputed {
			line = fmt.Appendf(line, "0:%d ", m.Serial[k]+1)
		} else {
			for e := m.Start[k]; e < m.Start[k+1]; e++ {
				line = append(strconv.AppendInt(line, int64(m.Index[e])+1, 10), ':')
				line = append(strconv.AppendFloat(line, m.Value[e], 'g', -1, 64), ' ')
			}
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
