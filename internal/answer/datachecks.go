package answer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
)

// CheckData are the checks of a data set, whatever the model: what its reader found, twins, rare classes,
// codes of missing values and features that alone explain the target.
func CheckData(set *dataset.Set) (all report.Checks) {
	kinds := map[dataset.DoubtKind]*report.Kind{dataset.RepeatingIDs: report.RepeatingIDs,
		dataset.RowNumbers: report.RowNumbers, dataset.LeftOut: report.LeftOutColumn,
		dataset.Spellings: report.Spellings, dataset.LeadingZeros: report.LeadingZeros,
		dataset.TimeOrder: report.TimeOrder}
	for _, d := range set.Doubts {
		all = append(all, kinds[d.Kind].Check(d.Value, d.Cure, "%s", d.Text))
	}
	all = append(all, rareClasses(set)...)
	if set.Sparse != nil {
		return all
	}
	return slices.Concat(all, twinRows(set), nearCopies(set), missingCodes(set), leaks(set))
}

// fewOfClass is the number of rows of a class below which the standard error of its error may be above 1/6.
const fewOfClass = 10

func classSizes(set *dataset.Set) []int {
	count := make([]int, len(set.Levels()))
	if !set.AreNumbers() {
		for _, class := range ClassesOf(set.Columns[0].Y) {
			count[class]++
		}
	}
	return count
}

// rareClasses are the classes with few rows, and less than half of an equal share, in a set with enough.
func rareClasses(set *dataset.Set) (all report.Checks) {
	count := classSizes(set)
	for class, rows := range count {
		if set.N() >= fewExamples && 1 < rows && rows < fewOfClass && 2*rows*len(count) < set.N() {
			// FewChecks has classes of one row
			all = append(all, report.RareClass.Check(float64(rows), "take more rows of this class",
				"class %s has %d rows: the standard error of its error rate may be %.2g",
				set.Levels()[class], rows, 0.5/math.Sqrt(float64(rows))))
		}
	}
	return all
}

// twinsOf are, for each row, the first row on its site that is of another class, -1 for none.
func twinsOf(site []int, class []float64) []int {
	first, other, twins := map[int]int{}, map[int]int{}, make([]int, len(site))
	for i, at := range site {
		if f, known := first[at]; !known {
			first[at], other[at] = i, -1
		} else if other[at] < 0 && class[i] != class[f] {
			other[at] = i
		}
	}
	for i, at := range site {
		if twins[i] = first[at]; class[i] == class[first[at]] {
			twins[i] = other[at]
		}
	}
	return twins
}

// twinRows counts the rows with the features of a row of another class.
func twinRows(set *dataset.Set) report.Checks {
	if set.AreNumbers() {
		return nil
	}
	site, _ := set.Distinct()
	twins := len(slices.DeleteFunc(twinsOf(site, set.Columns[0].Y), func(twin int) bool { return twin < 0 }))
	if twins == 0 {
		return nil
	}
	return report.Checks{report.Twins.Check(float64(twins),
		"look at the labels (bootbench rows lists them), or add a feature that distinguishes them",
		"%d rows have the features of a row of another class: no model gets all of them right", twins)}
}

// nearCopies counts, of at least 20 and at most 200 rows, those whose nearest row of another group is a near
// copy, and reports more than a third. It differs in two features or more, its distance, in their standard
// deviations, is less than 1/100 of the distance of the tenth nearest, and its target differs by less than
// 1/20 as much; classes are the same.
func nearCopies(set *dataset.Set) report.Checks {
	const nearest, operations = 10, 1e8
	n, d := set.N(), set.D()
	if n < fewExamples || len(set.Columns) != 1 {
		return nil
	}
	var values []float64
	scale, y := make([]float64, d), set.Columns[0].Y
	for j := range scale {
		values = columnOf(values, set, j)
		if sd := stat.StdDev(values, nil); sd > 0 {
			scale[j] = 1 / sd
		}
	}
	probes := min(n, max(20, min(200, int(operations/float64(n*d)))))
	copies := 0
	for p := range probes {
		i := p * n / probes
		x := set.X.Row(i)
		var near [][3]float64 // squared distance, difference of the targets, features that differ
		for k := range n {
			distance, differ := 0.0, 0.0
			for j, v := range set.X.Row(k) {
				if v != x[j] {
					differ++
				}
				distance += (v - x[j]) * scale[j] * (v - x[j]) * scale[j]
			}
			if distance == 0 || set.Groups != nil && set.Groups[i] == set.Groups[k] {
				continue
			}
			if len(near) == nearest && distance >= near[nearest-1][0] {
				continue
			}
			near = append(near, [3]float64{distance, math.Abs(y[k] - y[i]), differ})
			slices.SortFunc(near, func(a, b [3]float64) int { return cmp.Compare(a[0], b[0]) })
			near = near[:min(len(near), nearest)]
		}
		if len(near) == nearest && near[0][0] < 1e-4*near[nearest-1][0] && near[0][2] > 1 &&
			(near[0][1] == 0 || set.AreNumbers() && 20*near[0][1] < near[nearest-1][1]) {
			copies++
		}
	}
	if 3*copies <= probes {
		return nil
	}
	share := float64(copies) / float64(probes)
	return report.Checks{report.CopiesApart.Check(share, "give copies a common name in a column, and take "+
		"ReadOptions.Groups with it", "%.2g%% of the rows have near copies, which differ by less than a "+
		"hundredth of the distance to other rows: errors of rows whose copies are trained on are too small",
		100*share)}
}

// codes are numbers that often stand for a missing value: sevens, eights or nines, of either sign, the bounds
// of whole numbers of 16 and 32 bits, and -1, -7, -8 and -9.
var codes = func() map[float64]bool {
	all := map[float64]bool{-1: true, -7: true, -8: true, -9: true, math.MinInt16: true, math.MaxInt16: true,
		math.MaxUint16: true, math.MinInt32: true, math.MaxInt32: true, math.MaxUint32: true}
	for ones := 11.0; ones < 1e6; ones = 10*ones + 1 {
		for digit := 7.0; digit <= 9; digit++ {
			all[digit*ones], all[-digit*ones] = true, true
		}
	}
	return all
}()

const huge = 1e20 // which is none among numbers that are not much smaller

// missingCodes finds codes in a column of numbers. They lie further from the other values than those from
// each other, and occur twice or are ten times as far; or they are the only values below 0: -77 and below, or
// -1 to -9 if they occur thrice and more than twice as often as any other value.
func missingCodes(set *dataset.Set) (all report.Checks) {
	isCode := func(v float64) bool { return v == math.Trunc(v) && (codes[v] || math.Abs(v) >= huge) }
	check := func(name string, values []float64) {
		others := slices.DeleteFunc(slices.Clone(values), isCode)
		if len(others) < 2 || len(others) == len(values) {
			return
		}
		low, high := floats.Min(others), floats.Max(others)
		if !slices.ContainsFunc(values, func(v float64) bool { return (v < low || v > high) && isCode(v) }) {
			return
		}
		count := counts(others)
		most := slices.Max(slices.Collect(maps.Values(count)))
		for v, rows := range counts(values) {
			span, off := high-low, max(low-v, v-high)
			far := off > span && (rows > 1 || span > 0 && off > 10*span)
			below := v < 0 && low >= 0
			if math.Abs(v) >= huge {
				far = off > 1e6*span
			}
			if math.Abs(v) < 10 { // one digit
				far = far && rows > 1 && len(count) > 2
				below = below && rows > max(2, 2*most) && len(count) > 4
			}
			if isCode(v) && (far || below) {
				cure := fmt.Sprintf("take ReadOptions.NA %v with ReadOptions.Missing if it stands for a "+
					"missing value", v)
				all = append(all, report.MissingCodes.Check(v, cure,
					"column %q is %v in %d rows, unlike its other values", name, v, rows))
			}
		}
	}
	var values []float64
	for j, name := range set.Features {
		values = columnOf(values, set, j)
		check(name, values)
	}
	for _, c := range set.Columns {
		if c.Levels == nil {
			check(c.Name, c.Y)
		}
	}
	slices.SortFunc(all, func(a, b report.Check) int { return cmp.Compare(a.Text, b.Text) })
	return all
}

func counts(values []float64) map[float64]int {
	count := map[float64]int{}
	for _, v := range values {
		count[v]++
	}
	return count
}

// columnOf is a feature, in the place of values.
func columnOf(values []float64, set *dataset.Set, j int) []float64 {
	values = values[:0]
	for i := range set.N() {
		values = append(values, set.X.At(i, j))
	}
	return values
}

// Bounds of leaks: the least absolute rank correlation of a feature with numbers, the largest balanced error
// of taking the class of the row that is nearest in a feature, and the most rows that are looked at. The
// probability that a permutation of the targets leaks to a feature must be below surelyNot.
const (
	leakingRank, leastRank   = 0.99, 0.98 // in the rows, and the lower end of a 95% interval
	leakingError, mostErrors = 0.01, 0.05 // and the upper end
	leakRows                 = 2000
	surelyNot                = 1e-4
)

// leaksError reports whether a share of wrong rows of n is a leak's: the upper end for none is 3/n.
func leaksError(wrong float64, n int) bool {
	return wrong <= leakingError && wrong+3/float64(n) <= mostErrors
}

// leaksRank reports whether a rank correlation of n rows is a leak's, by Fisher's transformation.
func leaksRank(r float64, n int) bool {
	return r >= leakingRank && math.Atanh(r)-1.7/math.Sqrt(float64(n-3)) >= math.Atanh(leastRank)
}

// leaks finds features that alone explain a target nearly, in data with others. Rows of one group, or copies
// of a row, that agree in the feature and the target count once: the others would be judged by them.
func leaks(set *dataset.Set) (all report.Checks) {
	step := (set.N() + leakRows - 1) / leakRows
	if set.Varying() < 2 {
		return nil
	}
	unit := set.Groups
	if unit == nil {
		unit, _ = set.Copies()
	}
	type row struct {
		unit int
		x, y float64
	}
	const cure = "drop it if it is known only after the target"
	for _, c := range set.Columns {
		var x, y []float64
		for j, name := range set.Features {
			x, y = x[:0], y[:0]
			known := map[row]bool{}
			for i := 0; i < set.N(); i += step {
				if unit != nil {
					r := row{unit[i], set.X.At(i, j), c.Y[i]}
					if known[r] {
						continue
					}
					known[r] = true
				}
				x, y = append(x, set.X.At(i, j)), append(y, c.Y[i])
			}
			if !canLeak(y, c.Levels != nil, set.D()) {
				continue
			}
			if c.Levels != nil {
				if wrong := neighbourError(x, y); leaksError(wrong, len(y)) {
					all = append(all, report.Leak.Check(wrong, cure,
						"feature %q alone predicts the %s of all rows except %.2g%%", name, c.Name,
						100*wrong))
				}
			} else if r := math.Abs(stat.Correlation(ranksOf(x), ranksOf(y), nil)); leaksRank(r, len(y)) {
				all = append(all, report.Leak.Check(r, cure, "feature %q alone explains %s: their rank "+
					"correlation is %.4f", name, c.Name, r))
			}
		}
	}
	return all
}

// canLeak reports whether so few orders of the targets leak that none of d features does by chance.
func canLeak(y []float64, classes bool, d int) bool {
	lgamma := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	orders, alike := lgamma(len(y)), math.Log(2)
	if classes {
		count := counts(y)
		for _, rows := range count {
			orders -= lgamma(rows)
		}
		alike = lgamma(len(count))
	}
	return len(y) >= fewOfClass && orders-alike-math.Log(float64(d)) > -math.Log(surelyNot)
}

// ranksOf are the ranks of values, the mean rank for equal ones.
func ranksOf(values []float64) []float64 {
	ranks, below := make([]float64, len(values)), 0
	for _, rows := range calibration.Ties(values) {
		for _, i := range rows {
			ranks[i] = float64(below) + float64(len(rows)-1)/2
		}
		below += len(rows)
	}
	return ranks
}

// neighbourError is the mean over the classes of the share of rows whose class is not the most frequent of
// the other rows with the same x or, without these, of the nearest row. A class as frequent as another
// is right by half.
func neighbourError(x, y []float64) (mean float64) {
	wrong, all, runs := map[float64]float64{}, counts(y), calibration.Ties(x)
	for r, rows := range runs {
		judges, self := rows, 1
		if len(rows) == 1 {
			below, above := math.Inf(1), math.Inf(1)
			if r > 0 {
				below = x[rows[0]] - x[runs[r-1][0]]
			}
			if r < len(runs)-1 {
				above = x[runs[r+1][0]] - x[rows[0]]
			}
			if self = 0; below <= above {
				judges = runs[r-1][len(runs[r-1])-1:]
			} else {
				judges = runs[r+1][:1]
			}
		}
		count := map[float64]int{}
		for _, i := range judges {
			count[y[i]]++
		}
		for _, i := range rows {
			most := 0
			for class, rows := range count {
				if class != y[i] {
					most = max(most, rows)
				}
			}
			switch own := count[y[i]] - self; {
			case own < most:
				wrong[y[i]]++
			case own == most:
				wrong[y[i]] += 0.5
			}
		}
	}
	for class, rows := range all {
		mean += wrong[class] / float64(rows*len(all))
	}
	return mean
}
