package loss

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// average is E Value(h, y) by quadrature in z = (h-mean)/s, split at the kinks of the loss, over 14 standard
// deviations from the mean; in the far tail it integrates outwards from the kink nearest to the mean, for
// relative accuracy.
func average(test Test, mean, s, y float64, kinks []float64) float64 {
	cuts := []float64{-14, 14}
	for _, b := range kinks {
		if z := (b - mean) / s; math.Abs(z) < 36 {
			cuts = append(cuts, z-1, z, z+1)
			if math.Abs(z) > 8 {
				cuts = append(cuts, z-6, z+6)
			}
		}
	}
	slices.Sort(cuts)
	sum := 0.0
	for i := 1; i < len(cuts); i++ {
		sum += integral(func(z float64) float64 { return test.Value(mean+s*z, y) * gauss(z) }, cuts[i-1],
			cuts[i], 0.5)
	}
	return sum
}

// TestGaussianAverages holds every average to quadrature, from standard
// deviations far below the kinks of the loss to far above. Relative tolerance
// 1e-11: where the result is small, mean + s z in the quadrature is rounded
// (1e-16/s), which the slope z of the log density multiplies. SmoothEps, by panels, has 1e-13 s besides.
func TestGaussianAverages(t *testing.T) {
	const y = 1.0
	narrow, wide, corner, tight := SmoothEps{0.1, 0.1}, SmoothEps{0.5, 1}, SmoothEps{0.3, 0},
		SmoothEps{0.1, 0.01}
	cases := []struct {
		test  Test
		kinks []float64
	}{
		{SquareTest{}, nil}, {Absolute{}, []float64{y}}, {ZeroOne{}, []float64{0}},
		{narrow, []float64{0.89, 0.91, 1.09, 1.11}}, {wide, []float64{0, 1, 2}},
		{corner, []float64{0.7, 1.3}},
		{tight, []float64{0.899, 0.901, 1.099, 1.101}},
	}
	for _, c := range cases {
		for _, off := range []float64{0, 1e-3, 0.05, 0.095, 0.1, 0.3, -0.1, -0.11, -1, 2, 30} {
			for _, s := range []float64{1e-3, 0.004, 0.01, 0.03, 0.1, 0.5, 1, 3, 40, 1e3} {
				want := average(c.test, y+off, s, y, c.kinks)
				if want < 1e-200 {
					continue
				}
				got := c.test.Gaussian(y+off, s*s, y)
				tol := 1e-11 * want
				if _, panels := c.test.(SmoothEps); panels {
					tol += 1e-13 * s
				}
				if !(math.Abs(got-want) <= tol) {
					t.Errorf("%s %+v, off %g, s %g: %.15g, quadrature %.15g",
						c.test.Name(), c.test, off, s, got, want)
				}
			}
		}
	}
}

// TestNoVariance: at variance 0 the average is the value, and it tends there.
func TestNoVariance(t *testing.T) {
	for _, name := range TestNames() {
		test := testutil.Must(TestByName(name))(t)
		for _, f := range []float64{-2, -1.1, -1.05, -0.95, -0.9, -0.3, 0.5, 1.0995, 3} {
			for _, y := range []float64{-1, 1} {
				want := test.Value(f, y)
				for _, v := range []float64{0, 5e-324, 1e-300, 1e-60, 1e-30} {
					if got := test.Gaussian(f, v, y); !(math.Abs(got-want) <= 1e-15+1e-14*want) {
						t.Errorf("%s: f=%g, y=%g, variance %g: %g, want %g", name, f, y, v, got, want)
					}
				}
			}
		}
	}
	if got := (ZeroOne{}).Gaussian(0, 0, 1); got != 0.5 {
		t.Errorf("a prediction of 0 counts %g, a tie is half an error", got)
	}
}

func TestTestByName(t *testing.T) {
	for _, name := range TestNames() {
		if test, err := TestByName(name); err != nil || test.Name() != name {
			t.Errorf("TestByName(%s) = %v, %v", name, test, err)
		}
	}
	if test, _ := TestByName("smooth-eps"); test != (SmoothEps{0.1, 0.1}) {
		t.Errorf("smooth-eps is %v", test)
	}
	if test, err := TestByName("smooth-eps:2.5,0.3"); test != (SmoothEps{2.5, 0.3}) ||
		test.Name() != "smooth-eps:2.5,0.3" {
		t.Errorf("parameters: %v, %v", test, err)
	}
	for _, values := range []string{"", "1", "1,", "-1,0", "1,2", "x,0.1", "1,0.1,3", "NaN,0.1", "1,NaN"} {
		if test, err := TestByName("smooth-eps:" + values); err == nil {
			t.Errorf("smooth-eps:%s is %v", values, test)
		}
	}
	if _, err := TestByName("cubic"); err == nil || !strings.Contains(err.Error(), "zero-one") {
		t.Errorf("unknown name: %v", err)
	}
}
