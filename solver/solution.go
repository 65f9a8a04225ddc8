package solver

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver/site"
)

// Solution is the last iterate of a solve, with its averages. Vectors over sites have length M, over examples
// length N. Its read-outs use the engine and K's scratch triangle: they are valid until another solve or fit
// uses these, and must not run at the same time.
//
// For the square loss the Residual is the largest relative change of d by one more sweep. For other losses it
// is the largest change of the cavities by one more sweep (log c, m_c in (unit^2 + V_c)^1/2, log V_c), or the
// largest difference between the two sides of T6, of d chi, m and V, if that is larger; after cancellation,
// of the cavities only.
type Solution struct {
	Problem  Problem // the solved problem
	Method   Method
	Status   Status
	Residual float64
	Stats    Stats
	Warnings []string

	SitePrecision []float64     // d = Delta lambda
	SiteMean      []float64     // fields g = gamma
	SiteVariance  []float64     // u = -lambda >= 0: the sites' part of the variance
	Cavity        []loss.Cavity // cavities (T2)
	Mean          []float64     // m, mean over resamples of the predictor at the sites
	Var           []float64     // V, its variance over resamples

	sites     []site.Site
	engine    linalg.Engine
	reading   sync.Mutex       // one read-out at a time: engines have workspaces
	predictor linalg.Predictor // made at its first use
}

// LeftOut is the bootstrap estimate of the expected test loss (Efron's leave-one-out bootstrap, M03-46): for
// every example the test loss averaged over the resamples without it, and the weighted mean over examples.
func (s *Solution) LeftOut(test loss.Test) (mean float64, perExample []float64) {
	perExample = make([]float64, len(s.Problem.Y))
	linalg.Parallel(len(s.sites), func(i int) {
		s.sites[i].EachLeftOut(s.Cavity[i], s.Problem.Y, test, func(example int, value float64) {
			perExample[example] = value
		})
	})
	return stat.Mean(perExample, s.Problem.Weights), perExample
}

// Distribution is the law over resamples of the predictor at a site (M03-60).
func (s *Solution) Distribution(site int) loss.Distribution {
	return s.sites[site].Distribution(s.Cavity[site])
}

// Sites is the number of sites M, and SiteOf the site of an example.
func (s *Solution) Sites() int             { return len(s.sites) }
func (s *Solution) SiteOf(example int) int { return s.Problem.Site.At(example) }

// PerExample spreads a vector over sites onto all examples.
func (s *Solution) PerExample(overSites []float64) []float64 {
	out := make([]float64, len(s.Problem.Y))
	for example := range out {
		out[example] = overSites[s.SiteOf(example)]
	}
	return out
}

// Check refuses a Solution that Solve has not made.
func (s *Solution) Check() error {
	if s == nil || s.engine == nil {
		return fmt.Errorf("%w: there is no solution: Solve makes one", ErrProblem)
	}
	return nil
}

// ErrOverwritten: another solve or a full fit has overwritten the G of a Solution.
var ErrOverwritten = errors.New("the matrix G of this solution has been overwritten by a later solve or " +
	"full fit of the same model: read it off before, or build a model for each")

// Engine is the engine that holds G at the solution's d, or ErrOverwritten.
func (s *Solution) Engine() (linalg.Engine, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if !s.engine.Valid() || !slices.Equal(s.engine.Precisions(), s.SitePrecision) {
		return nil, ErrOverwritten
	}
	return s.engine, nil
}

// Hold is Engine, and blocks solves and full fits of the model until release is called: they fail with
// linalg.ErrBusy, and so does Hold while one is in progress.
func (s *Solution) Hold() (engine linalg.Engine, release func(), err error) {
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if release, err = linalg.Share(s.Problem.Gram); err != nil {
		return nil, nil, err
	}
	if engine, err = s.Engine(); err != nil {
		release()
		return nil, nil, err
	}
	return engine, release, nil
}

// Read calls f with the engine held (see Hold): no other read-out, solve or full fit uses it meanwhile.
func (s *Solution) Read(f func(linalg.Engine) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	engine, release, err := s.Hold()
	if err != nil {
		return err
	}
	defer release()
	return f(engine)
}

// Bound are the sites with the loss bound to them, for package adjoint.
func (s *Solution) Bound() []site.Site { return s.sites }

// Covariance writes the covariances over resamples of the predictor at one site with that at every site, -(G
// diag(lambda) G)_ij (M03-41), into dst, length M. O(M^2).
func (s *Solution) Covariance(dst []float64, site int) error {
	return s.Read(func(engine linalg.Engine) error {
		g := make([]float64, len(dst))
		chi, _ := engine.Diag()
		linalg.Row(engine, g, site)
		for j := range g {
			g[j] *= s.SiteVariance[j]
		}
		linalg.MulVecOffDiag(engine, dst, g)
		for j := range dst {
			dst[j] += chi[j] * g[j]
		}
		return nil
	})
}

// PosteriorVariances are the averages over resamples of the posterior's variance of f at each site, G_ii
// (M03-33), of the square loss and of likelihoods; of other losses the mean responses of f to a field.
func (s *Solution) PosteriorVariances() (variances []float64, err error) {
	err = s.Read(func(engine linalg.Engine) error {
		chi, _ := engine.Diag()
		variances = slices.Clone(chi)
		return nil
	})
	return variances, err
}

// PosteriorCovariance writes the averages over resamples of the posterior's covariances of f at one site with
// f at every site, G_ij (M03-33), into dst, length M.
func (s *Solution) PosteriorCovariance(dst []float64, site int) error {
	return s.Read(func(engine linalg.Engine) error {
		linalg.Row(engine, dst, site)
		return nil
	})
}

// InputDim is the length of the row of a new input in Predict: M for a dense kernel matrix, the rank for a
// low-rank one, at least 1.
func (s *Solution) InputDim() int { return linalg.InputDim(s.Problem.Gram) }

// Predict is the mean and the variance over resamples of the predictor at P new inputs (M03-48). rows holds P
// x Width numbers, row-major, and is overwritten: the kernel of each new input with every site, or its
// coordinates (linalg.LowRankPlusDiag.Coordinates).
func (s *Solution) Predict(rows []float64) (mean, variance []float64, err error) {
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if len(rows)%s.InputDim() != 0 {
		return nil, nil, fmt.Errorf("%d numbers are no whole rows of %d for new inputs",
			len(rows), s.InputDim())
	}
	count := len(rows) / s.InputDim()
	mean, variance = make([]float64, count), make([]float64, count)
	return mean, variance, s.Read(func(engine linalg.Engine) error {
		if s.predictor == nil {
			s.predictor = linalg.NewPredictor(engine, s.SiteMean, s.SiteVariance)
		}
		s.predictor(rows, mean, variance)
		return nil
	})
}

// Bytes is the memory of the solution, K included.
func (s *Solution) Bytes() int64 {
	n, held := len(s.sites), int64(0)
	if factor := linalg.FactorOf(s.Problem.Gram); factor != nil {
		held = linalg.LowRankBytes(n, factor.Rank())
	} else {
		held = linalg.DenseBytes(n, 0)
	}
	return held + 8*int64(8*n+len(s.Problem.Y))
}

// readCavities computes the cavities, means and variances from d, g and u. With products without the diagonal
// of G nothing cancels (T5, T6):
//
//	m = G g,                        m_c = sum_{j != i} G_ij g_j / b_i,
//	V_i = sum_j G_ij^2 u_j,         V_c = sum_{j != i} G_ij^2 u_j / b_i^2,   c = b/chi.
func (s *Solution) readCavities() {
	n := len(s.sites)
	chi, b := s.engine.Diag()
	s.Mean = make([]float64, n)
	s.Cavity = make([]loss.Cavity, n)
	linalg.MulVecOffDiag(s.engine, s.Mean, s.SiteMean)
	if s.Var == nil { // else the variance equations have computed the product
		s.Var = make([]float64, n)
		s.engine.MulVecSquaredOffDiag(s.Var, s.SiteVariance)
	}
	for i := range s.Cavity {
		s.Cavity[i] = loss.Cavity{C: cavityPrecision(chi[i], b[i]), Mean: s.Mean[i] / b[i],
			Var: s.Var[i] / (b[i] * b[i])}
		if s.Cavity[i].Var < 0 {
			s.Cavity[i].Var = 0
			s.Stats.Clamps++
		}
		s.Mean[i] += chi[i] * s.SiteMean[i]
		s.Var[i] = math.Max(0, s.Var[i]+chi[i]*chi[i]*s.SiteVariance[i])
	}
}
