package linalg

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg/internal/core"
)

// RankUpdate changes d by delta at the listed sites. The sites that grow and those
// that shrink are moved one group after the other, so that each group needs
// one Cholesky factor of the order of the group:
//
//	G+ = G - U S^-1 U',  U = G_J |delta|^1/2,  S = I + |delta|^1/2 G_JJ |delta|^1/2   (M03-65)
//
// and for shrinking sites the same with both signs changed. It refuses where G comes
// from the low-rank factor.
func (e *CholeskyEngine) RankUpdate(sites []int, delta []float64) error {
	if e.singular.inUse {
		return ErrUpdate
	}
	e.FormG()
	for _, sign := range []float64{1, -1} {
		if err := e.updateGroup(sites, delta, sign); err != nil {
			return err
		}
	}
	return nil
}

// updateGroup moves the sites whose delta has the given sign.
func (e *CholeskyEngine) updateGroup(sites []int, delta []float64, sign float64) error {
	w := &e.update
	if !w.Choose(e.sites.D, sites, delta, sign) {
		return nil
	}
	e.gatherColumns()
	if !w.Solve(e.N(), sign) || !w.Diagonals(e.sites.D, e.sites.Chi, e.sites.B, sign) {
		return ErrUpdate
	}
	n, a := e.N(), len(w.Sites)
	u := blas64.General{Rows: n, Cols: a, Stride: a, Data: w.U[:n*a]}
	blas64.Syrk(gblas.NoTrans, -sign, u, 1, e.k.Scratch())
	s := e.k.Scratch()
	for i := range n {
		s.Data[i*s.Stride+i] = 0
	}
	e.sites.Accept(w)
	return nil
}

// gatherColumns fills U = G_J |delta|^1/2, row by row.
func (e *CholeskyEngine) gatherColumns() {
	w := &e.update
	n, a := e.N(), len(w.Sites)
	w.Reserve(&core.Plan{}, n, a)
	w.U = w.U[:n*a]
	s := e.k.Scratch()
	eachRow(n, func(i int) {
		for k, j := range w.Sites {
			g := s.Data[max(i, j)*s.Stride+min(i, j)]
			if i == j {
				g = e.sites.Chi[i]
			}
			w.U[i*a+k] = g * w.Magnitude[k]
		}
	})
}
