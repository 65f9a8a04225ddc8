package multifidelity

import (
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

// Problem is a theory of N examples on M sites, and how they are resampled.
type Problem struct {
	Solution *solver.Solution // need not have converged; all of its G at hand, its loss with a proximal map
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

// NewExpectation computes the moments of the first iterate. Its mean needs that the scheme is one of package
// resample, and that the joint counts at every input can be enumerated: else it is an error. Its variance
// needs that counts are independent or that every example is alone on its site, and no design: Var and
// AbsentVar are nil else.
//
// The cost is that of some products with G; under a scheme whose counts depend on each other of about 20.
func NewExpectation(p Problem) (*Expectation, error) {
	x, err := newIterate(p)
	if err != nil {
		return nil, err
	}
	return x.expectation()
}

// iterate is F1 as a function of the counts.
type iterate struct {
	Problem
	engine linalg.Engine
	chi    []float64
	center []float64 // the theory's mean, M + P
	sites  []*siteForce
	part   []int // of each site's examples, see countLaw
	known  map[place][2]float64
}

// place is a site under a law of its counts, which are those of its examples without one of a target; -1:
// all.
type place struct {
	site, without int
	law           *jointCounts
}

func newIterate(p Problem) (*iterate, error) {
	s := p.Solution
	engine, err := s.Engine()
	if err != nil {
		return nil, err
	}
	x := &iterate{Problem: p, engine: engine, part: make([]int, s.Sites()), known: map[place][2]float64{}}
	x.chi, _ = engine.Diag()
	x.center = append(slices.Clone(s.Mean), x.respond(s.SiteMean)...)
	targets, losses := make([][]float64, s.Sites()), slices.Repeat([]loss.Loss{s.Problem.Loss}, s.Sites())
	for i, y := range s.Problem.Y {
		site := s.SiteOf(i)
		targets[site] = append(targets[site], y)
		if losses[site], err = loss.Times(s.Problem.Loss, weightOf(s, i)); err != nil {
			return nil, err
		}
	}
	for i, y := range targets {
		x.sites = append(x.sites, newSiteForce(losses[i].(loss.Proximal), s.Cavity[i], s.Mean[i], x.chi[i], y))
	}
	return x, nil
}

// expectation computes the moments. With example i of part p left out
//
//	E F1_i = m_i + G_ii delta_i(0) + sum_{l not in p} G_il delta_l + sum_{l in p, l != i} G_il delta_l|i
//
// with delta the means of xi - g under the law of the other parts, and of the others of i's part (T14).
func (x *iterate) expectation() (*Expectation, error) {
	s, n := x.Solution, len(x.Solution.Problem.Y)
	alone := n == len(x.sites)
	_, designed := x.Scheme.(resample.Designed)
	law, known := newCountLaw(x.Scheme, n)
	if !known || designed && !alone {
		return nil, fmt.Errorf("the joint law of the counts under scheme %q is not known", x.Scheme.Name())
	}
	for i, p := range law.part {
		x.part[s.SiteOf(i)] = p
	}
	var whole, outside, inside forces
	for _, f := range []struct {
		*forces
		laws []*jointCounts
	}{{&whole, law.marginal}, {&outside, law.outside}, {&inside, law.inside}} {
		for site := range x.sites {
			if err := x.add(f.forces, place{site, -1, f.laws[x.part[site]]}); err != nil {
				return nil, err
			}
		}
	}
	var own forces // of each example's site without it
	for i, y := range s.Problem.Y {
		site := s.SiteOf(i)
		at := place{site, slices.Index(x.sites[site].target, y), law.inside[x.part[site]]}
		if err := x.add(&own, at); err != nil {
			return nil, err
		}
	}
	e := &Expectation{Mean: x.product(whole.mean, true), AbsentMean: make([]float64, n)}
	for j, m := range x.center {
		e.Mean[j] += m
	}
	others := make([]float64, len(x.sites))
	for p := range law.marginal {
		for l, part := range x.part {
			if others[l] = outside.mean[l]; part == p {
				others[l] = inside.mean[l]
			}
		}
		off := x.product(others, false)
		for i, part := range law.part {
			if site := s.SiteOf(i); part == p {
				e.AbsentMean[i] = s.Mean[site] + off[site] + x.chi[site]*own.mean[i]
			}
		}
	}
	if designed || !alone && !law.marginal[0].independent() {
		return e, nil
	}
	e.Var = x.variance(law.marginal[0], whole.variance, true)
	off := x.variance(law.inside[0], inside.variance, false)
	for i, v := range own.variance {
		site := s.SiteOf(i)
		e.AbsentVar = append(e.AbsentVar, off[site]+x.chi[site]*x.chi[site]*v)
	}
	return e, nil
}

// forces are moments of xi - g.
type forces struct{ mean, variance []float64 }

// add appends the moments at a place, which are computed once.
func (x *iterate) add(f *forces, at place) (err error) {
	v, known := x.known[at]
	if !known {
		if v[0], v[1], err = x.sites[at.site].moments(at.law, at.without); err != nil {
			return fmt.Errorf("site %d: %w", at.site+1, err)
		}
		x.known[at] = v
	}
	f.mean, f.variance = append(f.mean, v[0]), append(f.variance, v[1])
	return nil
}

// product is what forces delta add to the predictions, G delta at the sites and then that at new inputs. If
// not whole it is sum_{i != j} G_ji delta_i, at the sites alone.
func (x *iterate) product(delta []float64, whole bool) []float64 {
	out := make([]float64, len(delta))
	x.engine.MulVecOffDiag(out, delta)
	if !whole {
		return out
	}
	for i, v := range delta {
		out[i] += x.chi[i] * v
	}
	return append(out, x.respond(delta)...)
}

// respond is the predictions that forces make at the new inputs.
func (x *iterate) respond(force []float64) []float64 {
	out := make([]float64, x.Responses.Rows)
	if len(out) > 0 {
		blas64.Gemv(gblas.NoTrans, 1, x.Responses, blas64.Vector{N: len(force), Inc: 1, Data: force}, 0,
			blas64.Vector{N: len(out), Inc: 1, Data: out})
	}
	return out
}

// squares is product by the squares of the elements of G and of the responses.
func (x *iterate) squares(v []float64, whole bool) []float64 {
	out := make([]float64, len(v))
	x.engine.MulVecSquaredOffDiag(out, v)
	if !whole {
		return out
	}
	for i, v := range v {
		out[i] += x.chi[i] * x.chi[i] * v
	}
	for p := range x.Responses.Rows {
		sum := 0.0
		for i, r := range x.Responses.Data[p*x.Responses.Stride:][:len(v)] {
			sum += r * r * v[i]
		}
		out = append(out, sum)
	}
	return out
}

// variance is the variance of product from that of the forces under a law. Where counts depend on each other
// it has the covariances of pairs of sites with one example each,
//
//	sum_{i != l} G_ji G_jl Cov(xi_i, xi_l) = sum_r lambda_r ((G phi_r)_j^2 - sum_i G_ji^2 phi_ri^2),
//
// with lambda_r and u_r the eigenvalues and eigenvectors of P(k, l) - P(k) P(l), the joint
// law of two counts less the product of their laws, and phi_ri = sum_k u_rk xi_i(k).
func (x *iterate) variance(law *jointCounts, variance []float64, whole bool) []float64 {
	out := x.squares(variance, whole)
	if law.independent() {
		return out
	}
	square := make([]float64, len(variance))
	x.eachPairMode(law, func(lambda float64, phi []float64) {
		for i, v := range phi {
			square[i] = v * v
		}
		product := x.product(phi, whole)
		for j, v := range x.squares(square, whole) {
			out[j] += lambda * (product[j]*product[j] - v)
		}
	})
	return out
}

// negligibleMode is the eigenvalue, relative to the largest, below which a mode of the
// pairs' covariance is rounding.
const negligibleMode = 1e-13

// eachPairMode calls f with lambda_r and phi_r of variance.
func (x *iterate) eachPairMode(law *jointCounts, f func(lambda float64, phi []float64)) {
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
		if math.Abs(v) > negligibleMode*largest {
			phi.MulVec(values, vectors.ColView(r))
			f(v, phi.RawVector().Data)
		}
	}
}
