package svm

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/need"
)

// TestPairs follows coordinate ascent pair by pair on small problems: the
// objective never falls, f stays K beta, weights stay in their boxes, and a
// pair ends where neither weight gains by itself, nor both together.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	joint := 0
	for range 200 {
		m := 2 + rng.IntN(8)
		k := gram(rng, m, 0.1)
		p := Problem{Y: labels(rng, 2*m), Site: make([]int, 2*m), C: make([]float64, 2*m)}
		for i := range p.Y {
			p.Site[i], p.C[i] = rng.IntN(m), 0.2+2*rng.Float64()
		}
		trainer := need.One(NewTrainer(k))(t)
		if err := trainer.boxes.sum(&p, trainer.kernel); err != nil {
			t.Fatal(err)
		}
		trainer.result.F = make([]float64, m)
		trainer.prepare(&p, nil)
		q := &trainer.dual
		for range 30 {
			before := q.objective()
			first := q.selectBest()
			if first < 0 || math.Abs(slopeAt(q, first)) < 1e-9 {
				break
			}
			row := q.row(first)
			second := q.axpySelectPair(row, q.coordinateStep(first), 1/q.diag[first], first)
			if second < 0 {
				break
			}
			alone := q.objective()
			q.pairStepFrom(first, second, row)
			after := q.objective()
			if alone < before-1e-12 || after < alone-1e-12 {
				t.Fatalf("the objective goes %v, %v, %v", before, alone, after)
			}
			checkDual(t, q)
			if !q.free(first) || !q.free(second) {
				continue
			}
			joint++
			for _, i := range []int{first, second} {
				if slope := slopeAt(q, i); math.Abs(slope) > 1e-12 {
					t.Fatalf("slope %g left at a weight of the pair", slope)
				}
			}
		}
	}
	if joint < 100 {
		t.Errorf("only %d pairs with both weights free", joint)
	}
}

func slopeAt(q *dual, i int) float64 {
	slope, _ := q.ascentDirection(i)
	return slope
}

// checkDual recomputes f, the boxes and the derivatives of phi.
func checkDual(t *testing.T, q *dual) {
	t.Helper()
	for i, b := range q.beta {
		f := 0.0
		for j, x := range q.beta {
			f += x * q.row(i)[j]
		}
		if math.Abs(f-q.f[i]) > 1e-12 {
			t.Fatalf("f is %v, want %v", q.f[i], f)
		}
		if b < q.low[i] || b > q.high[i] {
			t.Fatalf("weight %v outside of [%v, %v]", b, q.low[i], q.high[i])
		}
		const h = 1e-7
		phi := func(b float64) float64 { return 2*min(q.high[i], b-q.low[i]) - b }
		if right := (phi(b+h) - phi(b)) / h; b+h < q.high[i] && math.Abs(right-q.floor[i]) > 1e-5 &&
			math.Abs(b-q.kink[i]) > h {
			t.Fatalf("right derivative %v, floor %v", right, q.floor[i])
		}
		if left := (phi(b) - phi(b-h)) / h; b-h > q.low[i] && math.Abs(left-q.ceil[i]) > 1e-5 &&
			math.Abs(b-q.kink[i]) > h {
			t.Fatalf("left derivative %v, ceil %v", left, q.ceil[i])
		}
	}
}
