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

func newRowTable(x smoothMixture, c float64) *rowTable {
	width := x.patchWidthAt(math.Log(c)/logCWidth - 0.5)
	return &rowTable{smoothMixture: x, c: c, width: width, patches: map[int]rowPatch{}}
}

// at is the predictor for one row of counts.
func (t *rowTable) at(row int, h float64) point {
	number := math.Floor(h / t.width)
	x := 2*(h/t.width-number) - 1
	v := clenshaw(t.patch(int(number))[row], x)
	return point{h, h + v[0], v[1]}
}

// patch returns a patch, made at its first use.
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

// posteriorMap is the predictor for one row of counts under a cavity of that mean and standard deviation.
type posteriorMap struct {
	table    *rowTable
	row      int
	mean, sd float64
}

func (m *posteriorMap) at(h float64) point { return m.table.at(m.row, h) }

func (*posteriorMap) breakpoints() ([]float64, bool) { return nil, false }

// inverse searches up to curveReach by Newton steps, or bisection if they leave the bracket.
func (m *posteriorMap) inverse(x float64) preimage {
	least, most := m.mean-curveReach*m.sd, m.mean+curveReach*m.sd
	lo, hi, p := math.Inf(-1), math.Inf(1), m.at(m.mean)
	for step := range maxSteps {
		if p.f > x {
			hi = p.h
		} else {
			lo = p.h
		}
		next := p.h + (x-p.f)/p.slope
		if !(lo <= next && next <= hi) || step > newtonSteps && step%2 == 0 {
			next = 0.5 * (math.Max(least, lo) + math.Min(most, hi))
		}
		next = math.Min(math.Max(least, next), most)
		if math.Abs(next-p.h) <= fieldError*m.sd {
			return preimage{next, next, p.slope}
		}
		p = m.at(next)
	}
	return preimage{p.h, p.h, p.slope}
}

// Limits of a search.
const (
	fieldError = 1e-8 // of the standard deviation, of the last Newton step
	maxSteps   = 200
)
