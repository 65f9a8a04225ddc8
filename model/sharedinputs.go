package model

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/kernel"
	"bootbench/linalg"
)

// sharedInputs are the inputs of the sites where ranks hold them together, an even part of the sites on
// each, in their order.
type sharedInputs struct {
	own    *kernel.Inputs
	rows   kernel.Rows // of own sites, as the kernel takes them
	share  linalg.Share
	pivots *kernel.Inputs // of the factor, on all ranks
}

var _ linalg.Columns = (*sharedInputs)(nil)

// prepareShared readies the inputs of own sites for the kernel.
func (m *Model) prepareShared(rows siteRows) (err error) {
	if m.Merged() > 0 {
		rows.x = m.Set.Share(m.First)
	}
	centre := make([]float64, m.Set.D()) // the same on all ranks
	if !m.Standardize {
		centre = m.Set.Standardizer().Mean
	}
	m.inputs, err = m.Kernel.PrepareRows(rows, centre)
	if err := m.team.Agree(err); err != nil {
		return err
	}
	m.shared = &sharedInputs{own: m.inputs, rows: rows, share: linalg.ShareOut(m.team, m.Sites())}
	return nil
}

// N is the number of sites.
func (s *sharedInputs) N() int { return s.share.Total }

// Diagonal writes the diagonal of the kernel matrix, without its jitter, into dst.
func (s *sharedInputs) Diagonal(dst []float64) error {
	clear(dst)
	if err := s.share.Agree(s.own.Diagonal(s.share.Of(dst))); err != nil {
		return err
	}
	s.share.Sum(dst)
	return nil
}

// Columns writes the part of the listed sites' columns that own sites have into dst.
func (s *sharedInputs) Columns(dst []float64, sites []int, first, last int) error {
	m := last - first
	if first != s.share.First || last != s.share.Last {
		return fmt.Errorf("columns of sites %d to %d, where the inputs of %d to %d are", first+1, last,
			s.share.First+1, s.share.Last)
	}
	return s.own.Cross(s.at(sites), blas64.General{Rows: len(sites), Cols: m, Stride: m, Data: dst})
}

// at hands the inputs of the listed sites to all ranks.
func (s *sharedInputs) at(sites []int) blas64.General {
	_, d := s.rows.Dims()
	x := blas64.General{Rows: len(sites), Cols: d, Stride: d, Data: make([]float64, len(sites)*d)}
	for k, site := range sites {
		if s.share.Holds(site) {
			to := x.Data[k*d : (k+1)*d]
			copy(to, s.rows.Row(to, site-s.share.First))
		}
	}
	s.share.Sum(x.Data)
	return x
}

// pivotInputs is the kernel with the pivots of the factor.
func (m *Model) pivotInputs() *kernel.Inputs {
	if m.shared != nil {
		return m.shared.pivots
	}
	return m.inputs.Subset(m.Factor.Pivots())
}
