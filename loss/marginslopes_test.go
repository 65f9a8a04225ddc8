package loss

import (
	"fmt"
	"math"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// TestMomentSlopes: the derivatives of the moments of margin losses are the ones by central differences of
// the moments, whose error is 1e-10 of the third derivative and rounding over 1e-5; of pinned, free and mixed
// sites, of both labels, and of two examples.
func TestMomentSlopes(t *testing.T) {
	for _, l := range []Loss{HardMargin{}, Hinge{C: 1}, Hinge{C: 30}, SquaredHinge{C: 2}} {
		for _, y := range [][]float64{{1}, {-1}, {1, 1}} {
			s := testutil.Must(l.Site(y, resample.Poisson{Ratio: 1}))(t)
			for _, cav := range []Cavity{{C: 1, Mean: 0.3, Var: 0.5}, {C: 20, Mean: -0.4, Var: 2},
				{C: 0.3, Mean: 1.2, Var: 0.01}, {C: 5, Mean: -3, Var: 0.6}, {C: 2, Mean: 4, Var: 0.4}} {
				t.Run(fmt.Sprintf("%s/y=%v/%v", l.Name(), y, cav), func(t *testing.T) {
					by, ok := s.(Sloped).MomentSlopes(cav)
					if !ok {
						t.Fatal("no derivatives")
					}
					const h = 1e-5
					for k, move := range [3]func(x float64) Cavity{
						func(x float64) Cavity { return Cavity{cav.C * math.Exp(x), cav.Mean, cav.Var} },
						func(x float64) Cavity { return Cavity{cav.C, cav.Mean + x, cav.Var} },
						func(x float64) Cavity { return Cavity{cav.C, cav.Mean, cav.Var * math.Exp(x)} },
					} {
						a, b := s.Moments(move(-h)), s.Moments(move(h))
						for name, pair := range map[string][2]float64{
							"mean":      {by[k].Mean, b.Mean - a.Mean},
							"variance":  {by[k].Var, b.Var - a.Var},
							"response":  {by[k].Response, b.Response - a.Response},
							"shrinkage": {by[k].Shrinkage, b.Shrinkage - a.Shrinkage},
						} {
							if want := pair[1] / (2 * h); math.Abs(pair[0]-want) > 1e-7*(1+math.Abs(want)) {
								t.Errorf("coordinate %d, %s: %g, differences %g", k, name, pair[0], want)
							}
						}
					}
				})
			}
		}
	}
	free := testutil.Must(Hinge{C: 1}.Site([]float64{1, -1}, resample.Poisson{Ratio: 1}))(t)
	if _, ok := free.(Sloped).MomentSlopes(Cavity{C: 1, Mean: 0, Var: 1}); ok {
		t.Error("two labels at one input have one kink")
	}
}
