package answer

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/solver"
)

// Covariances are those over resamples of the predictions at the sites (M03-41), or, with new inputs, at
// these: R diag(u) R' with the rows R of responses (M03-48), in squared units of the fit.
func Covariances(m *model.Model, s *solver.Solution, in *dataset.Inputs) (blas64.General, error) {
	if in == nil {
		n := m.Sites()
		c := rowsOf(make([]float64, n*n), n)
		for site := range n {
			if err := s.Covariance(c.Data[site*n:(site+1)*n], site); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	engine, release, err := s.Hold()
	if err != nil {
		return blas64.General{}, err
	}
	defer release()
	plain, weighted := rowsOf(make([]float64, in.N()*m.Sites()), m.Sites()),
		rowsOf(make([]float64, in.N()*m.Sites()), m.Sites())
	err = m.EachResponse(engine, in, func(p int, _, g []float64) {
		copy(plain.Data[p*plain.Stride:], g)
		for site, u := range s.SiteVariance {
			weighted.Data[p*weighted.Stride+site] = g[site] * u
		}
	})
	c := rowsOf(make([]float64, in.N()*in.N()), in.N())
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, weighted, plain, 0, c)
	return c, err
}

// covariances are those of the part at new inputs, in squared units of the target.
func covariances(p *part, in *dataset.Inputs) (blas64.General, error) {
	c, err := Covariances(p.model, p.solution, in)
	floats.Scale(p.model.Unit*p.model.Unit, c.Data)
	return c, err
}
