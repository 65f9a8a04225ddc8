package linalg

// OffSquareMulVec is dst = (G o G) x without the diagonal of G. G o G is never
// stored: every element of the triangle is squared as it passes and serves its
// row and its column.
func (e *Exact) OffSquareMulVec(dst, x []float64) {
	if e.expanded && e.single {
		offSquare(e, single(e.k), dst, x)
		return
	}
	e.mustBeExpanded()
	offSquare(e, double(e.k), dst, x)
}

func offSquare[T number](e *Exact, t triangle[T], dst, x []float64) {
	count := blocks(t.n, tile)
	overTriangle(t.n, lanes, func(lane int) {
		sum := e.lanes[lane]
		clear(sum)
		for block := lane; block < count; block += lanes {
			for i := block * tile; i < min(t.n, (block+1)*tile); i++ {
				sum[i] += squareRow(t.row(i)[:i], x[:i], sum[:i], x[i])
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
func squareRow[T number](row []T, x, y []float64, xi float64) float64 {
	x, y = x[:len(row)], y[:len(row)]
	total := 0.0
	for j, v := range row {
		g := float64(v)
		g *= g
		total += g * x[j]
		y[j] += g * xi
	}
	return total
}
