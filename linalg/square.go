package linalg

// OffSquareMulVec is dst = (G o G) x without the diagonal of G. G o G is never
// stored: every element of the triangle is squared as it passes and serves its
// row and its column.
func (e *Exact) OffSquareMulVec(dst, x []float64) {
	e.mustBeExpanded()
	s := e.k.Scratch()
	count := blocks(s.N, tile)
	overTriangle(s.N, lanes, func(lane int) {
		sum := e.lanes[lane]
		for i := range sum {
			sum[i] = 0
		}
		for block := lane; block < count; block += lanes {
			for i := block * tile; i < min(s.N, (block+1)*tile); i++ {
				row := s.Data[i*s.Stride : i*s.Stride+i]
				sum[i] += squareRow(row, x[:i], sum[:i], x[i])
			}
		}
	})
	for i := range dst {
		dst[i] = 0
		for _, sum := range e.lanes {
			dst[i] += sum[i]
		}
	}
}

// squareRow adds row_j^2 xi to every y_j and returns sum_j row_j^2 x_j.
func squareRow(row, x, y []float64, xi float64) float64 {
	x, y = x[:len(row)], y[:len(row)]
	total := 0.0
	for j, g := range row {
		g *= g
		total += g * x[j]
		y[j] += g * xi
	}
	return total
}
