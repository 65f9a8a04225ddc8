package multifidelity

import (
	"errors"
	"fmt"
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Problem is what is resampled, N examples on M sites, and a theory of it.
type Problem struct {
	Solution *solver.Solution // need not have converged; all of its G at hand
	Loss     loss.Proximal
	Y        []float64 // targets, length N
	Site     []int     // site of each example
	Scheme   resample.Scheme
	// Responses, P x M, takes the forces xi to the predictions at P new inputs; the zero
	// value means none. See batch.New.
	Responses blas64.General
}

// Expectation is what is known of the first iterate F1 without any fit. Slices over points
// have the M sites first, then the new inputs.
type Expectation struct {
	Mean []float64 // E F1 over resamples, M + P
	Var  []float64 // its variance, M + P; nil where it is not known
	// AbsentMean and AbsentVar are the same at the site of each example, over the
	// resamples that leave it out: length N.
	AbsentMean, AbsentVar []float64
}

// forces are moments of xi - g over the sites under one law of the counts.
type forces struct{ mean, variance []float64 }

// NewExpectation computes the moments of the first iterate. Its mean needs that the scheme
// is one of package resample, and that the joint counts at every input can be enumerated;
// else it is an error that wraps ErrUnknown. Its variance needs that counts are independent
// or that every example is alone on its site: Var and AbsentVar are nil else.
//
// The cost is that of some products with G; under a scheme whose counts depend on each
// other of about 20.
func NewExpectation(p Problem) (*Expectation, error) {
	engine, err := p.Solution.Engine()
	if err != nil {
		return nil, err
	}
	x := &expectation{Problem: p, engine: engine}
	x.chi, _ = x.engine.Diag()
	x.groupSites()
	law, known := newJointCounts(p.Scheme)
	if designed, ok := p.Scheme.(resample.Designed); ok && x.alone() {
		if d, known := newDesignLaw(designed.Draws); known {
			return x.designed(d)
		}
	}
	if !known {
		return nil, fmt.Errorf("%w: the joint law of the counts under scheme %q is not known", ErrUnknown,
			p.Scheme.Name())
	}
	whole, err := x.forces(law)
	if err != nil {
		return nil, err
	}
	e := &Expectation{Mean: x.mean(whole.mean)}
	others := law.givenAbsent()
	given := whole
	if !law.independent() {
		if given, err = x.forces(others); err != nil {
			return nil, err
		}
	}
	own, err := x.ownForces(others)
	if err != nil {
		return nil, err
	}
	e.AbsentMean = x.absentMean(given, own)
	switch {
	case law.independent():
		off := x.offDiagVar(whole.variance)
		e.Var, e.AbsentVar = x.addOwn(off, whole.variance), x.absentVar(off, own)
	case x.alone():
		e.Var, e.AbsentVar = x.pairVar(law, whole.variance), x.absentVar(x.offDiagPairVar(others, given.variance),
			own)
	}
	return e, nil
}

// ErrUnknown marks a first iterate whose average over resamples cannot be computed.
var ErrUnknown = errors.New("the average of the first iterate is not known")

// expectation is the computation of an Expectation.
type expectation struct {
	Problem
	engine linalg.Engine
	chi    []float64
	sites  []*siteForce
}

func (x *expectation) groupSites() {
	targets := make([][]float64, len(x.engine.Precisions()))
	for i, site := range x.Site {
		targets[site] = append(targets[site], x.Y[i])
	}
	s := x.Solution
	losses := x.losses()
	for i, y := range targets {
		x.sites = append(x.sites, newSiteForce(losses[i], s.Cavity[i], s.Mean[i], x.chi[i], y))
	}
}

// losses are those of the sites, which have weights.
func (x *expectation) losses() []loss.Proximal {
	all, weights := slices.Repeat([]loss.Proximal{x.Loss}, len(x.engine.Precisions())),
		x.Solution.Problem.Weights
	for i, w := range weights {
		if times, err := loss.Times(x.Solution.Problem.Loss, w); err == nil { // else there were no solution
			all[x.Site[i]] = times.(loss.Proximal)
		}
	}
	return all
}

// alone says whether every site has one example.
func (x *expectation) alone() bool { return len(x.Y) == len(x.engine.Precisions()) }

// forces are the moments at all sites.
func (x *expectation) forces(law jointCounts) (f forces, err error) {
	f = forces{make([]float64, len(x.sites)), make([]float64, len(x.sites))}
	for i, site := range x.sites {
		if f.mean[i], f.variance[i], err = site.moments(law, -1); err != nil {
			err = fmt.Errorf("%w: site %d: %w", ErrUnknown, i+1, err)
			break
		}
	}
	return f, err
}

// ownForces are, for every example, the moments at its site when it is left out and the
// others' counts have that law.
func (x *expectation) ownForces(others jointCounts) (f forces, err error) {
	f = forces{make([]float64, len(x.Y)), make([]float64, len(x.Y))}
	type place struct{ site, target int }
	known := map[place][2]float64{} // of a site's examples of one target
	for i, y := range x.Y {
		at := place{x.Site[i], slices.Index(x.sites[x.Site[i]].target, y)}
		v, done := known[at]
		if !done {
			if v[0], v[1], err = x.sites[at.site].moments(others, at.target); err != nil {
				err = fmt.Errorf("%w: example %d: %w", ErrUnknown, i+1, err)
				break
			}
			known[at] = v
		}
		f.mean[i], f.variance[i] = v[0], v[1]
	}
	return f, err
}

// mean is m + G delta at the sites and responses (g + delta) at new inputs, delta the mean
// of xi - g.
func (x *expectation) mean(delta []float64) []float64 {
	m := len(delta)
	out := make([]float64, m+x.Responses.Rows)
	x.engine.MulVecOffDiag(out[:m], delta)
	force := make([]float64, m)
	for i, v := range delta {
		out[i] += x.Solution.Mean[i] + x.chi[i]*v
		force[i] = x.Solution.SiteMean[i] + v
	}
	x.respond(out[m:], force)
	return out
}

// respond is dst = Responses force.
func (x *expectation) respond(dst, force []float64) {
	if x.Responses.Rows > 0 {
		blas64.Gemv(gblas.NoTrans, 1, x.Responses, vector(force), 0, vector(dst))
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func (x *expectation) absentMean(given, own forces) []float64 {
	off := make([]float64, len(x.sites))
	x.engine.MulVecOffDiag(off, given.mean)
	out := make([]float64, len(x.Y))
	for i, site := range x.Site {
		out[i] = x.Solution.Mean[site] + off[site] + x.chi[site]*own.mean[i]
	}
	return out
}

// absentVar adds to the variance off that the other sites make at each site that of the
// examples' own site.
func (x *expectation) absentVar(off []float64, own forces) []float64 {
	out := make([]float64, len(x.Y))
	for i, site := range x.Site {
		out[i] = off[site] + x.chi[site]*x.chi[site]*own.variance[i]
	}
	return out
}

// independentVar is sum_i G_ji^2 Var xi_i, for independent counts.
func (x *expectation) independentVar(variance []float64) []float64 {
	return x.addOwn(x.offDiagVar(variance), variance)
}

// addOwn adds to the variance off that the other sites make at each site that of its own, and that at new
// inputs.
func (x *expectation) addOwn(off, variance []float64) []float64 {
	m := len(variance)
	out := append(slices.Clone(off), make([]float64, x.Responses.Rows)...)
	for i, v := range variance {
		out[i] += x.chi[i] * x.chi[i] * v
	}
	for p := range x.Responses.Rows {
		for i, r := range x.Responses.Data[p*x.Responses.Stride : p*x.Responses.Stride+m] {
			out[m+p] += r * r * variance[i]
		}
	}
	return out
}

// offDiagVar is sum_{i != j} G_ji^2 Var xi_i.
func (x *expectation) offDiagVar(variance []float64) []float64 {
	out := make([]float64, len(variance))
	x.engine.MulVecSquaredOffDiag(out, variance)
	return out
}

// pairVar adds to independentVar the covariances of pairs of sites with one example each,
//
//	sum_{i != l} G_ji G_jl Cov(xi_i, xi_l) = sum_r lambda_r ((G phi_r)_j^2 - sum_i G_ji^2 phi_ri^2),
//
// with lambda_r and u_r the eigenvalues and eigenvectors of P(k, l) - P(k) P(l), the joint
// law of two counts less the product of their laws, and phi_ri = sum_k u_rk xi_i(k).
func (x *expectation) pairVar(law jointCounts, variance []float64) []float64 {
	out := x.independentVar(variance)
	m := len(variance)
	product, square := make([]float64, len(out)), make([]float64, m)
	x.eachPairMode(law, func(lambda float64, phi []float64) {
		x.engine.MulVecOffDiag(product[:m], phi)
		for i, v := range phi {
			product[i] += x.chi[i] * v
			square[i] = v * v
		}
		x.respond(product[m:], phi)
		for j, v := range x.independentVar(square) {
			out[j] += lambda * (product[j]*product[j] - v)
		}
	})
	return out
}

// offDiagPairVar is pairVar at the sites without the site itself.
func (x *expectation) offDiagPairVar(law jointCounts, variance []float64) []float64 {
	out := x.offDiagVar(variance)
	product, square := make([]float64, len(out)), make([]float64, len(out))
	x.eachPairMode(law, func(lambda float64, phi []float64) {
		x.engine.MulVecOffDiag(product, phi)
		for i, v := range phi {
			square[i] = v * v
		}
		for j, v := range x.offDiagVar(square) {
			out[j] += lambda * (product[j]*product[j] - v)
		}
	})
	return out
}

// negligibleMode is the eigenvalue, relative to the largest, below which a mode of the
// pairs' covariance is rounding.
const negligibleMode = 1e-13

// eachPairMode calls f with lambda_r and phi_r of pairVar.
func (x *expectation) eachPairMode(law jointCounts, f func(lambda float64, phi []float64)) {
	one := law.total(1)
	counts := len(one.P)
	covariance := mat.NewSymDense(counts, nil)
	for k := range counts {
		for l := k; l < counts; l++ {
			pair := law.prob([]int{1, 1}, []int{one.First + k, one.First + l})
			covariance.SetSym(k, l, pair-one.P[k]*one.P[l])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return // never: the matrix is finite
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	lambda := eigen.Values(nil)
	largest := math.Max(math.Abs(lambda[0]), math.Abs(lambda[counts-1]))
	values := mat.NewDense(len(x.sites), counts, nil)
	for i, site := range x.sites {
		for k := range counts {
			values.Set(i, k, site.value([]int{one.First + k}))
		}
	}
	var phi mat.VecDense
	for r, v := range lambda {
		if math.Abs(v) <= negligibleMode*largest {
			continue
		}
		phi.MulVec(values, vectors.ColView(r))
		f(v, phi.RawVector().Data)
	}
}
