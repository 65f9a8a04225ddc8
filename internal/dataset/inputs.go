package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"

	"bootbench/linalg"
)

// Standardizer maps each feature of a training set to mean 0 and population standard deviation 1.
type Standardizer struct {
	// Mean and SD hold the D means and population standard deviations; SD is 0 for a constant column.
	Mean []float64 `json:"mean"`
	SD   []float64 `json:"sd"`
}

// Standardize returns a standardised copy of the inputs and the map that made it. Constant columns become 0.
func Standardize(x linalg.Matrix) (linalg.Matrix, Standardizer) {
	s := (&Set{X: x}).Standardizer()
	z, _ := s.Apply(x) // the number of features matches
	return z, s
}

// Standardizer is the map that standardises the inputs of s. Values are scaled by a power of two to at most
// about 1, so that no square overflows or vanishes.
func (s *Set) Standardizer() Standardizer {
	n, d := s.X.Rows, s.X.Cols
	z := Standardizer{Mean: make([]float64, d), SD: make([]float64, d)}
	if n == 0 {
		return z
	}
	low, high := slices.Clone(s.X.Row(0)), slices.Clone(s.X.Row(0))
	for i := range n {
		for j, v := range s.X.Row(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	exponent, scale, sum := make([]int, d), make([]float64, d), make([]float64, d)
	for j := range d {
		_, exponent[j] = math.Frexp(max(-low[j], high[j]))
		exponent[j] = max(exponent[j], -1000) // beyond it the factor would overflow
		scale[j] = math.Ldexp(1, -exponent[j])
	}
	for pass := range 3 { // the second removes the rounding of the first mean, the third sums squares
		clear(sum)
		weight, total := 1.0, 0.0
		for i := range n {
			if s.Weights != nil {
				weight = s.Weights[i]
			}
			total += weight
			for j, v := range s.X.Row(i) {
				deviation := v*scale[j] - z.Mean[j]
				if pass == 2 {
					deviation *= deviation
				}
				sum[j] += weight * deviation
			}
		}
		for j := range sum {
			if pass == 2 {
				z.SD[j] = math.Ldexp(math.Sqrt(sum[j]/total), exponent[j])
			} else {
				z.Mean[j] += sum[j] / total
			}
		}
	}
	for j := range d {
		if z.Mean[j] = math.Ldexp(z.Mean[j], exponent[j]); low[j] == high[j] { // without rounding
			z.Mean[j], z.SD[j] = low[j], 0
		}
	}
	return z
}

// Apply maps new inputs (M x D) by the training set's moments. A column that was constant there becomes 0:
// its scale is unknown.
func (s Standardizer) Apply(x linalg.Matrix) (linalg.Matrix, error) {
	if x.Cols != len(s.Mean) {
		return linalg.Matrix{}, errorIn("", "inputs with %d features, the training set has %d", x.Cols,
			len(s.Mean))
	}
	z := linalg.NewMatrix(x.Rows, x.Cols)
	s.To(z, x)
	return z, nil
}

// To is Apply into a matrix of the same shape, which may be the same matrix.
func (s Standardizer) To(z, x linalg.Matrix) {
	for i := range x.Rows {
		to := z.Row(i)
		for j, v := range x.Row(i) {
			if to[j] = 0; s.SD[j] > 0 {
				to[j] = 2 * ((v/2 - s.Mean[j]/2) / s.SD[j]) // halved, the difference cannot overflow
			}
		}
	}
}

// Distinct numbers the distinct inputs by first appearance: site[i] is the input of row i, first[s] the first
// row of input s, and X.Gather(first) the matrix of distinct inputs. Rows are equal if their weights and all
// features are (0 and -0 are equal), compared by their SHA-256.
func (s *Set) Distinct() (site, first []int) { return s.distinct(nil) }

// distinct leaves out some features, nil for none.
func (s *Set) distinct(omit []bool) (site, first []int) {
	site = make([]int, s.N())
	number := make(map[[sha256.Size]byte]int, s.N())
	var b []byte
	for i := range site {
		b = s.appendRow(b[:0], i, omit)
		key := sha256.Sum256(b)
		k, ok := number[key]
		if !ok {
			k = len(first)
			number[key], first = k, append(first, i)
		}
		site[i] = k
	}
	return site, first
}

// counters are the features that number the rows: whole numbers that all differ.
func (s *Set) counters() []bool {
	counts := make([]bool, s.D())
	for j := range counts {
		counts[j] = true
		for i, known := 0, map[float64]bool{}; i < s.N() && counts[j]; i++ {
			v := s.X.At(i, j)
			counts[j], known[v] = v == math.Trunc(v) && !known[v], true
		}
	}
	return counts
}

// Copies numbers the distinct inputs as Distinct does, without numbers of rows, if rows are copies of others,
// and counts these; else site is nil. More than one row in a hundred agrees then with an earlier one in
// inputs and targets, there are not few inputs, nearly each has one target, and without copying less than one
// pair of rows would agree if the columns were independent. If all columns have few values, which may depend
// on each other, less than a millionth of a pair is required.
func (s *Set) Copies() (site []int, copies int) {
	if s.Sparse != nil || len(s.Columns) != 1 {
		return nil, 0
	}
	counts := s.counters()
	site, first := s.distinct(counts)
	y, rows, number := s.Columns[0].Y, []int(nil), map[[2]float64]bool{}
	for i, k := range site {
		if key := [2]float64{float64(k), y[i]}; !number[key] {
			number[key], rows = true, append(rows, i)
		}
	}
	copies = s.N() - len(rows)
	if len(first) < fewRows || 100*copies <= s.N() || 10*(len(rows)-len(first)) > copies {
		return nil, 0
	}
	pairs, most := float64(len(rows))*float64(len(rows))/2, 0
	for j := range s.D() + 1 {
		if j < s.D() && counts[j] {
			continue
		}
		count := map[float64]float64{}
		for _, i := range rows {
			v := y[i]
			if j < s.D() {
				v = s.X.At(i, j)
			}
			count[v]++
		}
		share, m := 0.0, float64(len(rows))
		for _, c := range count {
			share += (c / m) * (c / m)
		}
		pairs *= share
		if most = max(most, len(count)); pairs < 1e-6 {
			return site, copies
		}
	}
	if pairs >= 1 || 2*most < len(rows) {
		return nil, 0
	}
	return site, copies
}

// appendRow appends the bytes of weight and features of example i, except those to omit, the same for equal
// ones.
func (s *Set) appendRow(b []byte, i int, omit []bool) []byte {
	put := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) } // -0 + 0 is 0
	if s.Weights != nil {
		put(s.Weights[i])
	}
	if s.Sparse == nil {
		for j, v := range s.X.Row(i) {
			if omit == nil || !omit[j] {
				put(v)
			}
		}
		return b
	}
	index, value := s.Sparse.Row(i)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(index)))
	for k, j := range index {
		b = binary.LittleEndian.AppendUint64(b, uint64(j))
		put(value[k])
	}
	return b
}

// Digest is a checksum of shape, features and targets, without names; it is the same on every machine.
func (s *Set) Digest() string {
	h := sha256.New()
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.N()))
	h.Write(binary.LittleEndian.AppendUint64(b, uint64(s.D())))
	for _, c := range s.Columns {
		h.Write(binary.LittleEndian.AppendUint64(b[:0], uint64(len(c.Levels))))
	}
	for i := range s.N() {
		b = b[:0]
		for _, c := range s.Columns {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Y[i]))
		}
		h.Write(s.appendRow(b, i, nil))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// FeatureColumn is a column of the data, and the numbers of the features that it became.
type FeatureColumn struct {
	Name     string
	Features []int
}

// FeatureColumns are the columns that became features, in their order; of sparse data every feature is one.
func (s *Set) FeatureColumns() (all []FeatureColumn) {
	columns, next := s.Encoding().Columns, 0
	if len(columns) == 0 {
		for _, name := range numbered("", s.D()) {
			columns = append(columns, encodedColumn{Name: name})
		}
	}
	for _, from := range columns {
		c := FeatureColumn{Name: from.Name}
		for range from.width() {
			c.Features = append(c.Features, next)
			next++
		}
		all = append(all, c)
	}
	return all
}

// dense is a copy with dense inputs of its own.
func (s *Set) dense() *Set {
	other := *s
	if other.X.Data = slices.Clone(s.X.Data); s.Sparse != nil {
		other.X, other.Sparse = s.Sparse.Dense(), nil
	}
	return &other
}

// Without is a copy of dense inputs in which a column is the same in every row, so that it tells nothing.
func (s *Set) Without(c FeatureColumn) *Set {
	other := s.dense()
	for i := range s.N() {
		for _, j := range c.Features {
			other.X.Row(i)[j] = 0
		}
	}
	return other
}

// Permuted is a copy of dense inputs in which the values of a column have changed places at random: among the
// groups if each has one value, else among the rows.
func (s *Set) Permuted(c FeatureColumn, rng *rand.Rand) *Set {
	other, x := s.dense(), s.dense().X
	from := rng.Perm(s.N())
	if first, whole := s.constantIn(x, c); whole {
		to := rng.Perm(len(first))
		for i, g := range s.Groups {
			from[i] = first[to[g]]
		}
	}
	for i := range from {
		for _, j := range c.Features {
			other.X.Row(i)[j] = x.Row(from[i])[j]
		}
	}
	return other
}

// constantIn is the first row of each group, and whether every group has one value of a column.
func (s *Set) constantIn(x linalg.Matrix, c FeatureColumn) (first []int, whole bool) {
	if s.Groups == nil {
		return nil, false
	}
	first = slices.Repeat([]int{-1}, 1+slices.Max(s.Groups))
	for i, g := range s.Groups {
		if first[g] < 0 {
			first[g] = i
		}
		for _, j := range c.Features {
			if x.Row(i)[j] != x.Row(first[g])[j] {
				return nil, false
			}
		}
	}
	return first, true
}
