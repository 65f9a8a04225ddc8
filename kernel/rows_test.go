package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/need"
)

// doubled is every second row of a matrix, times two, from the last one on: inputs that stand
// nowhere as they are taken.
type doubled blas64.General

func (x doubled) Dims() (n, d int) { return x.Rows / 2, x.Cols }

func (x doubled) Row(dst []float64, i int) []float64 {
	for j, v := range row(blas64.General(x), 2*i) {
		dst[j] = 2 * v
	}
	return dst
}

// Inputs in another form have the covariances of the matrix that they stand for, bit for bit: between near
// rows too, whose distances come from the rows themselves.
func TestPrepareRows(t *testing.T) {
	x := gaussian(rand.New(rand.NewPCG(19, 4)), 60, 3)
	copy(row(x, 4), row(x, 2))
	x.Data[8*x.Stride] = x.Data[10*x.Stride] + 1e-9
	copy(row(x, 8)[1:], row(x, 10)[1:])
	fresh := gaussian(rand.New(rand.NewPCG(19, 5)), 7, 3)
	for _, spec := range []Spec{{}, {Kind: Matern12, LengthScale: []float64{0.5, 1, 2}}, {Kind: Linear}} {
		same := need.One(spec.Prepare(gather(doubled(x), nil)))(t)
		in := need.One(spec.PrepareRows(doubled(x)))(t)
		sites := []int{2, 1, 17}
		for what, of := range map[string]func(in *Inputs) []float64{
			"Gram": func(in *Inputs) []float64 { g, _ := in.Gram(); return g.Raw().Data },
			"Columns": func(in *Inputs) []float64 {
				to := make([]float64, 3*20)
				_ = in.Columns(to, sites, 5,
					25)
				return to
			},
			"Block": func(in *Inputs) []float64 {
				to := make([]float64, 9)
				in.Block(to, 3, sites, sites)
				return to
			},
			"Cross": func(in *Inputs) []float64 {
				to := blas64.General{Rows: 7, Cols: 30, Stride: 30, Data: make([]float64, 7*30)}
				_ = in.Cross(fresh, to)
				return to.Data
			},
			"Diagonal": func(in *Inputs) []float64 { to := make([]float64, 30); _ = in.Diagonal(to); return to },
		} {
			if got, want := of(in), of(same); !slices.Equal(got, want) {
				t.Errorf("%v: %s differs", spec.Kind, what)
			}
		}
	}
}
