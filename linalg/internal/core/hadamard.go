package core

// Lanes is the number of partial sums of products with G o G, fixed so that the
// result does not depend on the number of goroutines.
const Lanes = 8

// SquareRow adds row_j^2 xi to every y_j and returns sum_j row_j^2 x_j.
func SquareRow(row, x, y []float64, xi float64) float64 {
	x, y = x[:len(row)], y[:len(row)]
	total := 0.0
	for j, v := range row {
		g := v * v
		total += g * x[j]
		y[j] += g * xi
	}
	return total
}
