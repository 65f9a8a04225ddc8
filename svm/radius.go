package svm

import "math"

// RadiusSquared is the R^2 of leave-one-out bounds with a bias,
// max K_ii - min K_ij (theory 12): half the square of a distance that no two
// inputs exceed in feature space. It asks for every row.
func RadiusSquared(k Rows) float64 {
	largest, least := 0.0, 0.0
	if m, ok := k.(*denseRows); ok {
		for i := range m.N() {
			row := m.k.Row(i)
			largest, least = max(largest, row[0]), lowest(row, least, i == 0)
		}
		return largest - least
	}
	for i := range k.N() {
		largest, least = max(largest, k.Diag(i)), lowest(k.Row(i), least, i == 0)
	}
	return largest - least
}

// lowest is the least of row and, unless it is the first, of those before.
func lowest(row []float64, least float64, first bool) float64 {
	if first {
		least = math.Inf(1)
	}
	for _, v := range row {
		if v < least {
			least = v
		}
	}
	return least
}
