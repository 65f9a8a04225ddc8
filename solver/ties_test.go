package solver_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestTinyLeftOutMeans: beside a kernel as narrow as exp(-30) and less between examples,
// G = K^-1 + D to first order has G_ij = -K_ij/((1 + d_i)(1 + d_j)) up to a share of 1e-13,
// so that m_c = sum_{j != i} K_ij d_j y_j/(1 + d_j) by hand, its sign and size far below the
// rounding of the labels. The left-out errors follow, in theory and as a bagged mean.
func TestTinyLeftOutMeans(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(7, 1))
	k := linalg.NewSym(n)
	p := solver.Problem{Gram: k, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 1}}
	for i := range n {
		p.Site, p.Y = append(p.Site, i), append(p.Y, float64(2*(i%2)-1))
		k.Set(i, i, 1)
		for j := range i {
			k.Set(j, i, math.Exp(-30-40*rng.Float64()))
		}
	}
	s := mustConverge(t, p, solver.Settings{})
	bag, wrong := s.OutOfBag(), 0.0
	for i := range n {
		mean := 0.0
		for j := range n {
			if d := s.SitePrecision[j]; j != i {
				mean += k.At(min(i, j), max(i, j)) * d * p.Y[j] / (1 + d)
			}
		}
		if mean*p.Y[i] < 0 {
			wrong += 1. / n
		}
		if !(math.Abs(bag.Mean[i]-mean) <= 1e-9*math.Abs(mean)) {
			t.Errorf("left-out mean %d is %g, by hand %g", i, bag.Mean[i], mean)
		}
	}
	got, _ := bag.MeanLoss(loss.ZeroOne{})
	sameNumber(t, "error of the mean's sign", got, wrong, 1e-13)
	if len(s.Warnings) > 0 {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestTies: where the kernel carries nothing over, and where neighbours of opposite labels
// cancel but for rounding, the left-out prediction is a tie: half an error, of the mean and
// of the vote as well, and a warning.
func TestTies(t *testing.T) {
	alone := solver.Problem{Gram: linalg.NewSym(6), Loss: loss.Square{Noise: 0.1},
		Law: resample.Poisson{Ratio: 1}}
	for i := range 6 {
		alone.Gram.(*linalg.Sym).Set(i, i, 1)
		alone.Site, alone.Y = append(alone.Site, i), append(alone.Y, float64(2*(i%3/2)-1))
	}
	// Around example 0 the others stand in pairs of opposite labels at equal distances.
	ring := alone
	gram := linalg.NewSym(7)
	ring.Gram, ring.Site, ring.Y = gram, []int{0, 1, 2, 3, 4, 5, 6}, []float64{1, 1, -1, 1, -1, 1, -1}
	for i := range 7 {
		gram.Set(i, i, 1)
		if i > 0 {
			gram.Set(0, i, 0.3)
		}
	}
	s := mustConverge(t, ring, solver.Settings{})
	if each := s.OutOfBag().Mean[0]; each != 0 || !strings.Contains(strings.Join(s.Warnings, "; "),
		"at 1 of 7 inputs the sign") {
		t.Errorf("left-out mean %g; warnings %q", each, s.Warnings)
	}
	for what, p := range map[string]solver.Problem{"nothing over": alone} {
		for _, l := range []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 1}} {
			p.Loss = l
			s := mustConverge(t, p, solver.Settings{})
			bag := s.OutOfBag()
			left, _ := s.LeftOut(loss.ZeroOne{})
			mean, _ := bag.MeanLoss(loss.ZeroOne{})
			vote, _ := bag.VoteError()
			if left != 0.5 || mean != 0.5 || vote != 0.5 { // to the last digit: no mean of halves is above a half
				t.Errorf("%s: left-out error %v, of the mean %v, of the vote %v: want 1/2", l.Name(), left, mean, vote)
			}
			if !strings.Contains(strings.Join(s.Warnings, "; "), what) {
				t.Errorf("%s: warnings %q", l.Name(), s.Warnings)
			}
		}
	}
}
