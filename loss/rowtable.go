package loss

import (
	"math"
	"sync"
)

// patchFields are the Chebyshev points of a patch in h.
func patchFields(width float64, number, order int) []float64 {
	fields := make([]float64, order)
	for j := range fields {
		fields[j] = width * (float64(number) + 0.5*(1+chebyshevPoint(j, order)))
	}
	return fields
}

// rowTable interpolates the predictor of a likelihood at one c for every row of counts, on patches in h.
type rowTable struct {
	smoothMixture
	c, width float64
	mu       sync.Mutex
	patches  map[int]rowPatch
}

// rowPatch holds Chebyshev coefficients for every row of counts: of f - h and of the slope.
type rowPatch [][]averaged

const rowOrder = 16 // Chebyshev points of such a patch

// at is the predictor for one row of counts.
func (t *rowTable) at(row int, h float64) point {
	number := math.Floor(h / t.width)
	x := 2*(h/t.width-number) - 1
	v := clenshaw(t.patch(int(number))[row], x)
	return point{h, h + v[0], v[1]}
}

// patch returns a patch, and makes it where it is missing.
func (t *rowTable) patch(number int) rowPatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.patches[number]; p != nil {
		return p
	}
	n := len(t.P)
	fields := patchFields(t.width, number, rowOrder)
	f, slope := make([]float64, n*rowOrder), make([]float64, n*rowOrder)
	t.posteriors(t.c, fields, f, slope)
	p, values := make(rowPatch, n), make([]averaged, rowOrder)
	for i := range p {
		for j, h := range fields {
			values[j] = averaged{f[j*n+i] - h, slope[j*n+i]}
		}
		p[i] = chebyshevFit(values)
	}
	t.patches[number] = p
	return p
}
