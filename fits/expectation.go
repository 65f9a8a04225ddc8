package fits

import (
	"cmp"
	"fmt"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Controls is a theory of N examples on M sites and its resampling scheme.
type Controls struct {
	Solution *solver.Solution // need not have converged; has all of G, and a loss with a proximal map
	Scheme   resample.Scheme
	// Responses, P x M, maps the forces xi to the predictions at P new inputs; the zero value means none. See
	// NewBlocks.
	Responses blas64.General
}

// Expectation holds the moments of the first iterate F1, known without fits. Slices over points have the M
// sites first, then the new inputs.
type Expectation struct {
	Mean []float64 // E F1 over resamples, M + P
	Var  []float64 // its variance, M + P; nil if unknown
	// AbsentMean and AbsentVar are those at the site of each example, over the resamples that leave it out:
	// length N.
	AbsentMean, AbsentVar []float64
}

// iterate is F1 as a function of the counts.
type iterate struct {
	Controls
	engine linalg.Engine
	chi    []float64
	center []float64 // the theory's mean, M + P

	targets [][]float64 // of the examples of each site, and their loss
	losses  []loss.Loss

	squared, image []float64 // the last vector of squares, and its product
}

func newIterate(p Controls) (*iterate, error) {
	s := p.Solution
	engine, err := s.Engine()
	if err != nil {
		return nil, err
	}
	x := &iterate{Controls: p, engine: engine}
	x.chi, _ = engine.Diag()
	x.center = append(slices.Clone(s.Mean), x.respond(s.SiteMean)...)
	x.targets, x.losses = make([][]float64, s.Sites()), make([]loss.Loss, s.Sites())
	for i, y := range s.Problem.Y {
		site := s.SiteOf(i)
		x.targets[site] = append(x.targets[site], y)
		x.losses[site], err = loss.Times(s.Problem.Loss, weightOf(s.Problem.Weights, i))
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *iterate) force(site int) *siteForce {
	s := x.Solution
	return newSiteForce(loss.TraitsOf(x.losses[site]).Proximal, s.Cavity[site], s.Mean[site], x.chi[site],
		x.targets[site])
}

// expectation computes the moments. It is an error if the scheme is not one of package resample or the joint
// counts at an input are too many to enumerate. Var and AbsentVar are nil for designs, and for dependent
// counts if a site has several examples. With example i of part p left out
//
//	E F1_i = m_i + G_ii delta_i(0) + sum_{l not in p} G_il delta_l + sum_{l in p, l != i} G_il delta_l|i
//
// with delta the means of xi - g under the law of the other parts, and of the others of i's part (T14). The
// cost is a few products with G, or about 40 if counts are dependent.
func (x *iterate) expectation() (e Expectation, err error) {
	s, y := x.Solution, x.Solution.Problem.Y
	sites := len(x.targets)
	alone := len(y) == sites
	_, designed := x.Scheme.(resample.Designed)
	laws, parts := partLaws(x.Scheme, len(y))
	if laws == nil || designed && !alone {
		return e, fmt.Errorf("the joint law of the counts under scheme %q is not known", x.Scheme.Name())
	}
	part := make([]int, sites) // of each site's examples
	for i, p := range parts {
		part[s.SiteOf(i)] = p
	}
	whole, inside, outside := newForces(sites), newForces(sites), newForces(sites)
	own, kinds := make([]forces, sites), make([][]float64, sites) // without one example of each target
	errs := make([]error, sites)
	linalg.Parallel(sites, func(j int) {
		site, law := x.force(j), laws[part[j]]
		errs[j] = cmp.Or(whole.set(j, site, law.marginal, -1), inside.set(j, site, law.inside, -1),
			outside.set(j, site, law.outside, -1))
		own[j], kinds[j] = newForces(len(site.target)), site.target
		for t := range site.target {
			errs[j] = cmp.Or(errs[j], own[j].set(t, site, law.inside, t))
		}
	})
	for j, err := range errs {
		if err != nil {
			return e, fmt.Errorf("site %d: %w", j+1, err)
		}
	}
	ownOf := func(example, site int) (mean, variance float64) {
		t := slices.Index(kinds[site], y[example])
		return own[site].mean[t], own[site].variance[t]
	}
	e = Expectation{Mean: x.product(whole.mean, true), AbsentMean: make([]float64, len(y))}
	floats.Add(e.Mean, x.center)
	others := make([]float64, sites)
	for p := range laws {
		for j := range others {
			if others[j] = outside.mean[j]; part[j] == p {
				others[j] = inside.mean[j]
			}
		}
		off := x.product(others, false)
		for i := range y {
			if j := s.SiteOf(i); part[j] == p {
				mean, _ := ownOf(i, j)
				e.AbsentMean[i] = s.Mean[j] + off[j] + x.chi[j]*mean
			}
		}
	}
	if designed || !alone && !laws[0].marginal.independent() {
		return e, nil
	}
	e.Var = x.variance(laws[0].marginal, whole.variance, true)
	off := x.variance(laws[0].inside, inside.variance, false)
	for i := range y {
		j := s.SiteOf(i)
		_, variance := ownOf(i, j)
		e.AbsentVar = append(e.AbsentVar, off[j]+x.chi[j]*x.chi[j]*variance)
	}
	return e, nil
}

// forces are moments of xi - g.
type forces struct{ mean, variance []float64 }

func newForces(n int) forces { return forces{make([]float64, n), make([]float64, n)} }

// set sets element i to the moments of a site under a law of its counts, without one example of a target; -1:
// with all.
func (f forces) set(i int, site *siteForce, law *jointCounts, without int) (err error) {
	f.mean[i], f.variance[i], err = site.moments(law, without)
	return err
}

// product is the change of the predictions by forces delta: G delta at the sites, then that at new inputs. If
// not whole it is sum_{i != j} G_ji delta_i, only at the sites.
func (x *iterate) product(delta []float64, whole bool) []float64 {
	out := make([]float64, len(delta))
	linalg.MulVecOffDiag(x.engine, out, delta)
	if !whole {
		return out
	}
	for i, v := range delta {
		out[i] += x.chi[i] * v
	}
	return append(out, x.respond(delta)...)
}

// respond is the change of the predictions at the new inputs by forces.
func (x *iterate) respond(force []float64) []float64 {
	out := make([]float64, x.Responses.Rows)
	if len(out) > 0 {
		blas64.Gemv(gblas.NoTrans, 1, x.Responses, blas64.Vector{N: len(force), Inc: 1, Data: force}, 0,
			blas64.Vector{N: len(out), Inc: 1, Data: out})
	}
	return out
}

// squares is product with the squared elements of G and of the responses.
func (x *iterate) squares(v []float64, whole bool) []float64 {
	if !slices.Equal(x.squared, v) { // for independent counts all laws are one
		x.squared, x.image = v, make([]float64, len(v))
		x.engine.MulVecSquaredOffDiag(x.image, v)
	}
	out := slices.Clone(x.image)
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

// variance is the variance of product from the forces' variance under a law. For dependent counts it includes
// the covariances of pairs of sites with one example each,
//
//	sum_{i != l} G_ji G_jl Cov(xi_i, xi_l) = sum_kn C_kn (S_jk S_jn - sum_i G_ji^2 xi_i(k) xi_i(n)),
//
// with C_kn = P(k, n) - P(k) P(n) of two counts and S_jk = sum_i G_ji xi_i(k).
func (x *iterate) variance(law *jointCounts, variance []float64, whole bool) []float64 {
	if law.independent() {
		return x.squares(variance, whole)
	}
	one := law.total(1)
	xi, products := make([][]float64, len(one.P)), make([][]float64, len(one.P))
	for k := range xi {
		xi[k] = make([]float64, len(variance))
	}
	linalg.Parallel(len(variance), func(j int) {
		site := x.force(j)
		for k := range xi {
			xi[k][j] = site.value([]int{one.First + k})
		}
	})
	for k := range xi {
		products[k] = x.product(xi[k], whole)
	}
	diagonal, pairs := slices.Clone(variance), make([]float64, len(products[0]))
	for k, p := range one.P {
		for n, q := range one.P {
			c := law.prob([]int{1, 1}, []int{one.First + k, one.First + n}) - p*q
			for i := range diagonal {
				diagonal[i] -= c * xi[k][i] * xi[n][i]
			}
			for j := range pairs {
				pairs[j] += c * products[k][j] * products[n][j]
			}
		}
	}
	return floats.AddTo(pairs, pairs, x.squares(diagonal, whole))
}
