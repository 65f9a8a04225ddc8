package erm

import (
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train/internal/workspace"
)

// lowRank is a kernel matrix R R' + diag(delta). A coordinate sweep keeps t = R'a, so that f_i = r_i't +
// delta_i a_i costs 2 r flops; a Newton step costs n r^2.
type lowRank struct {
	kernel  *linalg.LowRankPlusDiag
	between *linalg.LowRankPlusDiag // the active sites
	system  *linalg.LowRankSystem   // on between
	product []float64
	t, rows []float64 // R'a; some rows of R
}

// sweepSites is the number of sites whose rows of R are gathered at a time.
const sweepSites = 64

func (s *lowRank) gather(site []int, _ int) {
	if s.between == s.kernel && len(site) == s.kernel.N() {
		return
	}
	s.between = s.kernel.Subset(site)
	s.system = s.between.System()
	s.product = workspace.Resize(s.product, len(site))
	s.t, s.rows = workspace.Resize(s.t, s.kernel.Rank()), workspace.Resize(s.rows, sweepSites*s.kernel.Rank())
}

func (s *lowRank) mulAdd(dst, x []float64) {
	s.between.MulVec(s.product, x)
	floats.Add(dst, s.product)
}

func (s *lowRank) factorise(e []float64) bool { return s.system.Factorize(e) == nil }

func (s *lowRank) solve(b []float64) { s.system.Solve(b) }

// sweep visits one site after the other and keeps t = R'a.
func (s *lowRank) sweep(f, a []float64, visit func(i int, f float64) (float64, error)) error {
	s.between.MulTrans(s.t, a)
	rank, n, residual := s.between.Rank(), s.between.N(), s.between.Residual()
	for first := 0; first < n; first += sweepSites {
		last := min(n, first+sweepSites)
		s.between.Rows(s.rows, first, last)
		for i := first; i < last; i++ {
			row := s.rows[(i-first)*rank : (i-first+1)*rank]
			f[i] = floats.Dot(row, s.t) + residual[i]*a[i]
			step, err := visit(i, f[i])
			if err != nil {
				return err
			}
			if step != 0 {
				floats.AddScaled(s.t, step, row)
			}
		}
	}
	s.between.MulVec(f, a)
	return nil
}

func (s *lowRank) spread(dst []float64, active []int, a []float64) {
	if len(active) < s.kernel.N() {
		s.kernel.MulVec(dst, a)
	}
}
