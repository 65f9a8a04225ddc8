package loss

// Prox is (c h + sum k_j y_j/s2)/(c + sum k_j/s2), of slope c/(c + sum k_j/s2).
func (l Square) Prox(c, h float64, y, k []float64) (f, slope float64) {
	weight, push := 0.0, 0.0
	for j, v := range y {
		weight += k[j] / l.Noise
		push += k[j] / l.Noise * (v - h)
	}
	return h + push/(c+weight), c / (c + weight)
}
