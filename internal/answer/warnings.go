package answer

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/linalg"
)

// fewExamples is the number below which errors, intervals and probabilities are rough.
const fewExamples = 20

// fewGroups is the effective number of groups below which Student's t differs from the normal law by more
// than a sixth.
const fewGroups = 8

// FewWarning is the warning of an estimate from few examples or groups, or from few that have the weight; or
// "".
func FewWarning(set *dataset.Set) string {
	n := set.N()
	switch effective := calibration.Effective(n, set.Weights, set.Groups); {
	case set.Groups != nil && effective < 1+1e-6:
		return "one group has all the weight: nothing is known of others"
	case set.Groups != nil && effective < fewGroups:
		t := distuv.StudentsT{Sigma: 1, Nu: effective - 1}
		return fmt.Sprintf("the rows are in %d groups, which count like %.2g of equal size: standard errors "+
			"are rough, and a 95%% interval takes %.2g of them to each side (Student's t), not 2",
			1+slices.Max(set.Groups), effective, t.Quantile(0.975))
	case set.Groups == nil && effective < fewExamples && n >= fewExamples:
		return fmt.Sprintf("errors are rough, and so are their standard errors: the weights make the rows "+
			"count like %.2g of equal weight", effective)
	case set.AreNumbers() && n < fewExamples:
		return fmt.Sprintf("errors from %d examples are rough, and so are their standard errors", n)
	case set.AreNumbers():
		return ""
	}
	count := make([]int, len(set.Levels()))
	for _, class := range ClassesOf(set.Columns[0].Y) {
		count[class]++
	}
	if class := slices.Index(count, 1); class >= 0 && len(count) == 2 {
		return fmt.Sprintf("there is one example of class %s: probabilities cannot be checked, and are "+
			"little more than shares of the classes", set.Levels()[class])
	}
	if n < fewExamples {
		return fmt.Sprintf("probabilities from %d examples are rough", n)
	}
	return ""
}

// checkMemory refuses what would not fit into memory.
func checkMemory(bytes, limit int64, what string) error {
	return linalg.CheckMemory(bytes, limit, what)
}
