package fits_test

import (
	"math"
	"testing"

	"bootbench/fits"
	"bootbench/loss"
)

// TestCost: choices by cost at both ends of what they depend on.
func TestCost(t *testing.T) {
	work := func(l loss.Loss, sites int) fits.Work {
		return fits.Work{Loss: l, Sites: sites, Rank: sites, Kept: 0.63}
	}
	square := fits.CostOf(work(loss.Square{Noise: 1}, 1000))
	if !(square.Rough+200*square.Block < 200*square.Single) || !(3*square.Single < square.Rough) {
		t.Errorf("200 regressions are made in blocks, three one by one: %+v", square)
	}
	kept := work(loss.Square{Noise: 1}, 1000)
	kept.Kept = 0.9
	tenfold := fits.CostOf(kept)
	if !(tenfold.Inverse+10*tenfold.Downdate < 10*tenfold.Single) ||
		!(square.Inverse+2*square.Downdate > 2*square.Single) {
		t.Errorf("ten folds are downdates of one inverse, two resamples are not: %+v, %+v", tenfold, square)
	}
	svm := work(loss.Hinge{C: 1}, 3000)
	svm.Operations = 4e6
	easy := fits.CostOf(svm)
	if cost, singly := easy.Alone(1, 200); !singly || cost != 200*easy.Single ||
		!(easy.Around(1, 200) > 1.2*cost) {
		t.Errorf("fits of 4e6 operations need no theory: %+v", easy)
	}
	svm.Operations = 4e8
	hard := fits.CostOf(svm)
	if cost, singly := hard.Alone(1, 200); singly || cost != hard.Rough+200*hard.Block {
		t.Errorf("fits of 4e8 operations are made in blocks: %+v", hard)
	}
	svm.Operations = 0
	unknown := fits.CostOf(svm)
	if cost, singly := unknown.Alone(1, 200); !math.IsInf(unknown.Single, 1) || singly ||
		math.IsInf(cost, 1) {
		t.Errorf("fits of unknown operations are made in blocks: %+v", unknown)
	}
	svm.Rank = 100
	if factor := fits.CostOf(svm); factor.Rough != factor.Theory || !(factor.Block < easy.Block) {
		t.Errorf("on a factor the rough theory is the theory, and blocks are fast: %+v", factor)
	}
}
