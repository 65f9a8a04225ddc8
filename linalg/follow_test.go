package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
)

// TestFollow against a fresh factorisation, on orders around the panels. The
// diagonals err by the fourth power of the relative move, the rest of G by less
// than its square; Defect, which knows nothing of the fresh one, says as much.
func TestFollow(t *testing.T) {
	if _, ok := blas.Bound().(blas.Single); !ok {
		e := NewCholeskyEngine(gaussianGram(20, false, rand.New(rand.NewPCG(1, 1))))
		if err := e.Factorize(drawSites(20, siteRegimes["even"], rand.New(rand.NewPCG(1, 1)))); err != nil {
			t.Fatal(err)
		}
		if err := e.Follow(make([]float64, 20)); !errors.Is(err, ErrUpdate) {
			t.Errorf("followed without single precision: %v", err)
		}
		return
	}
	for _, n := range []int{1, 2, followWidth - 1, followWidth, followWidth + 1, 2*followWidth + 30} {
		for name, draw := range map[string]func(rng *rand.Rand) float64{
			"random": func(rng *rand.Rand) float64 { return 2*rng.Float64() - 1 },
			"common": func(rng *rand.Rand) float64 { return 1 },
		} {
			t.Run(fmt.Sprintf("n=%d/%s", n, name), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(n), 1))
				k := gaussianGram(n, false, rng)
				d := drawSites(n, siteRegimes["even"], rng)
				const size = 5e-3
				move, moved := make([]float64, n), make([]float64, n)
				for i := range move {
					move[i] = size * d[i] * draw(rng)
					moved[i] = d[i] + move[i]
				}
				e := NewCholeskyEngine(k)
				if err := e.Factorize(d); err != nil {
					t.Fatal(err)
				}
				if err := e.Follow(move); err != nil {
					t.Fatal(err)
				}
				defect := e.Defect()
				x, y, z := drawSites(2*n, siteRegimes["even"], rng), make([]float64, n), make([]float64, n)
				e.MulVecOffDiag(y, x[:n])
				response := append([]float64(nil), x...)
				e.SolveRows(response)
				follow := rowsOfG(e)
				chi, b := append([]float64(nil), e.chi...), append([]float64(nil), e.b...)
				fresh := NewCholeskyEngine(k)
				if err := fresh.Factorize(moved); err != nil {
					t.Fatal(err)
				}
				fresh.FormG()
				off, scale := 0.0, 0.0
				for i, want := range rowsOfG(fresh) {
					site, other := i/n, i%n
					unit := math.Sqrt(fresh.chi[site] * fresh.chi[other])
					off += (follow[i] - want) * (follow[i] - want) / (unit * unit)
					scale += want * want / (unit * unit)
				}
				off = math.Sqrt(off / scale)
				if off > size*size || defect > size*size {
					t.Errorf("G is off by %.1e, Defect %.1e", off, defect)
				}
				if fine := fresh.Defect(); fine > 1e-12 {
					t.Errorf("Defect of a fresh G is %.1e", fine)
				}
				fresh.MulVecOffDiag(z, x[:n])
				fresh.SolveRows(x)
				for i := range z {
					if math.Abs(y[i]-z[i]) > 1e-9 || math.Abs(x[i]-response[i]) > 1e-9 || math.Abs(x[n+i]-response[n+i]) > 1e-9 {
						t.Fatalf("site %d: product %g, want %g; responses %g, %g, want %g, %g", i, y[i], z[i], response[i], response[n+i], x[i], x[n+i])
					}
				}
				for i := range chi {
					if relative(chi[i], fresh.chi[i], 0) > 2*math.Pow(size, 4)+1e-12 || relative(b[i], fresh.b[i], 0) > 2*math.Pow(size, 4)/b[i]+1e-12 {
						t.Fatalf("site %d: chi %g, want %g; b %g, want %g", i, chi[i], fresh.chi[i], b[i], fresh.b[i])
					}
					if e.d[i] != fresh.d[i] {
						t.Fatalf("site %d stands at %g, not %g", i, e.d[i], fresh.d[i])
					}
				}
			})
		}
	}
}

// rowsOf is all of G.
func rowsOfG(e *CholeskyEngine) []float64 {
	n := e.N()
	g := make([]float64, n*n)
	for i := range n {
		e.Row(g[i*n:(i+1)*n], i)
	}
	return g
}

// TestFollowRefuses what is not a small move, and leaves G as it was.
func TestFollowRefuses(t *testing.T) {
	const n = 20
	for name, spoil := range map[string]func(d, move []float64){
		"too far":            func(d, move []float64) { move[7] = 0.03 * d[7] },
		"no number":          func(d, move []float64) { move[7] = math.NaN() },
		"a site without a d": func(d, move []float64) { d[7] = 0 },
	} {
		k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 2)))
		d, move := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(1, 3))), make([]float64, n)
		spoil(d, move)
		e, untouched := NewCholeskyEngine(k), NewCholeskyEngine(gaussianGram(n, false, rand.New(rand.NewPCG(1, 2))))
		for _, e := range []*CholeskyEngine{e, untouched} {
			if err := e.Factorize(d); err != nil {
				t.Fatal(err)
			}
			e.FormG()
		}
		if err := e.Follow(move); !errors.Is(err, ErrUpdate) {
			t.Errorf("%s: %v", name, err)
		}
		compareEngines(t, e, untouched, 0)
	}
}
