package svm

import "gonum.org/v1/gonum/floats"

// RadiusSquared is the R^2 of leave-one-out bounds with a bias,
// max K_ii - min K_ij (theory 12): half the square of a distance that no two
// inputs exceed in feature space.
func RadiusSquared(k *Rows) float64 {
	if k.N() == 0 {
		return 0
	}
	largest, least := k.Diag(0), k.Diag(0)
	for i := range k.N() {
		row := k.k.Row(i) // from the diagonal on
		largest, least = max(largest, row[0]), min(least, floats.Min(row))
	}
	return largest - least
}
