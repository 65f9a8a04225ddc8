package multifidelity

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// groups is the number of groups of resamples. The coefficients of a group are fitted to
// the nine others.
const groups = 10

// priorWeight is the number of observations as which the coefficients that are expected
// count in the fit (ridge regression about them): few observations say little of two
// coefficients, least where the controls have heavy tails.
const priorWeight = 8

// regression estimates the means of responses y with the help of controls x of known mean
// 0, at many points at a time. Its memory does not grow with the number of observations; it
// is most of what refined estimates take, and half of that where sums are kept in single precision,
// each off by some 1e-7 of its terms' size times the root of their number.
type regression[T float32 | float64] struct {
	points, controls, responses int
	sums                        [groups][]T // points x (1 + v + v(v+1)/2) for v = controls + responses
}

func newRegression[T float32 | float64](points, controls, responses int) *regression[T] {
	r := &regression[T]{points: points, controls: controls, responses: responses}
	for g := range r.sums {
		r.sums[g] = make([]T, points*r.width())
	}
	return r
}

func (r *regression[T]) variables() int { return r.controls + r.responses }

// width is how many sums there are at a point: the number of observations, the variables,
// and their products, the upper triangle by rows.
func (r *regression[T]) width() int {
	v := r.variables()
	return 1 + v + v*(v+1)/2
}

// add takes in an observation, controls then responses, at one point.
func (r *regression[T]) add(group, point int, observed []float64) {
	sums := r.sums[group][point*r.width():][:r.width()]
	sums[0]++
	at := 1 + len(observed)
	for i, v := range observed {
		sums[1+i] = T(float64(sums[1+i]) + v)
		for _, w := range observed[i:] {
			sums[at] = T(float64(sums[at]) + v*w)
			at++
		}
	}
}

// moments are the sums of one point.
type moments struct {
	variables int
	sums      []float64
}

func (m moments) count() float64     { return m.sums[0] }
func (m moments) sum(i int) float64  { return m.sums[1+i] }
func (m moments) mean(i int) float64 { return m.sum(i) / m.count() }
func (m moments) at(i, j int) float64 { // sum of products
	i, j = min(i, j), max(i, j)
	return m.sums[1+m.variables+i*m.variables-i*(i-1)/2+j-i]
}

// covariance is the sum of products about the means.
func (m moments) covariance(i, j int) float64 { return m.at(i, j) - m.sum(i)*m.mean(j) }

// group are the sums of one group.
func (r *regression[T]) group(point, g int) moments {
	own := make([]float64, r.width())
	for i, v := range r.sums[g][point*r.width():][:r.width()] {
		own[i] = float64(v)
	}
	return moments{r.variables(), own}
}

// total are the sums of all groups.
func (r *regression[T]) total(point int) moments {
	total := make([]float64, r.width())
	for g := range groups {
		for i, v := range r.sums[g][point*r.width():][:r.width()] {
			total[i] += float64(v)
		}
	}
	return moments{r.variables(), total}
}

// less are the sums of m without those of a part of it.
func (m moments) less(part moments) moments {
	rest := make([]float64, len(m.sums))
	floats.SubTo(rest, m.sums, part.sums)
	return moments{m.variables, rest}
}

// plan says how the coefficients of a point are found.
type plan struct {
	plain bool        // all are 0
	floor []float64   // the least mean square of each control that is not rounding
	prior [][]float64 // of each response the coefficients that are expected
	like  []int       // of each response the one to which its coefficients are fitted; nil: itself
}

// estimate is means of responses and the covariance of their errors.
type estimate struct {
	count   float64
	mean    []float64
	cov     [][]float64
	squares []float64         // sums of squares of the residuals
	counts  [groups]float64   // observations by group
	sums    [groups][]float64 // of the residuals y - beta x
}

// se is the standard error of the mean of response k.
func (e *estimate) se(k int) float64 { return math.Sqrt(math.Max(0, e.cov[k][k])) }

// without is the mean of response k with one group deleted, NaN where nothing is left.
func (e *estimate) without(k, group int) float64 {
	sum, count := 0.0, 0.0
	for g := range groups {
		if g != group && e.counts[g] > 0 {
			sum += e.sums[g][k]
			count += e.counts[g]
		}
	}
	return sum / count
}

// estimate computes the means of the residuals y - beta x at a point, with the
// coefficients beta of each group fitted to the other groups, and the covariance of these
// means from that of the residuals. All is NaN without observations, the covariance with
// one.
func (r *regression[T]) estimate(point int, p plan) *estimate {
	q := r.responses
	e := &estimate{mean: make([]float64, q), cov: make([][]float64, q)}
	squares := make([][]float64, q)
	for k := range q {
		squares[k], e.cov[k] = make([]float64, q), make([]float64, q)
	}
	total := r.total(point)
	for g := range groups {
		own := r.group(point, g)
		e.sums[g] = make([]float64, q)
		if own.count() == 0 {
			continue
		}
		e.counts[g] = own.count()
		e.count += own.count()
		beta := r.coefficients(total.less(own), p)
		for k := range q {
			e.sums[g][k] = own.sum(r.controls + k)
			for i, b := range beta[k] {
				e.sums[g][k] -= b * own.sum(i)
			}
			e.mean[k] += e.sums[g][k]
			for l := range k + 1 {
				squares[k][l] += r.residualProduct(own, beta, k, l)
			}
		}
	}
	for k := range q {
		e.mean[k] /= e.count
	}
	for k := range q {
		e.squares = append(e.squares, squares[k][k])
		for l := range k + 1 {
			c := (squares[k][l] - e.count*e.mean[k]*e.mean[l]) / (e.count * (e.count - 1))
			e.cov[k][l], e.cov[l][k] = c, c
		}
	}
	return e
}

// residualProduct is the sum of (y_k - beta_k x)(y_l - beta_l x).
func (r *regression[T]) residualProduct(m moments, beta [][]float64, k, l int) float64 {
	sum := m.at(r.controls+k, r.controls+l)
	for i := range r.controls {
		sum -= beta[k][i]*m.at(i, r.controls+l) + beta[l][i]*m.at(i, r.controls+k)
		for j := range r.controls {
			sum += beta[k][i] * beta[l][j] * m.at(i, j)
		}
	}
	return sum
}

// coefficients are those of each response on the controls: least squares about the prior
// ones with their weight, or about 0 where the prior ones do not lower the variance. A control that is
// constant within rounding, or determined by those before it, keeps its prior one.
func (r *regression[T]) coefficients(m moments, p plan) [][]float64 {
	beta := make([][]float64, r.responses)
	for k := range beta {
		beta[k] = make([]float64, r.controls)
		if !p.plain {
			copy(beta[k], p.prior[k])
		}
	}
	if p.plain || m.count() < 2 {
		return beta
	}
	l := r.factorize(m, p.floor)
	for k := range beta {
		like := k
		if p.like != nil {
			like = p.like[k]
		}
		if !r.reduces(m, beta[k], like) {
			clear(beta[k])
		}
		move := make([]float64, r.controls)
		solveCholesky(l, move, func(i int) float64 {
			c := m.covariance(i, r.controls+like)
			for j, b := range beta[k] {
				c -= b * m.covariance(i, j)
			}
			return c
		})
		for i, v := range move {
			beta[k][i] += v
		}
	}
	return beta
}

// reduces says whether coefficients lower the variance of response k.
func (r *regression[T]) reduces(m moments, beta []float64, k int) bool {
	change := 0.0
	for i, b := range beta {
		change -= 2 * b * m.covariance(i, r.controls+k)
		for j, c := range beta {
			change += b * c * m.covariance(i, j)
		}
	}
	return change < 0
}

// factorize is Cholesky's factor of the controls' covariances with the prior's weight, by
// rows; those of controls that are not used are nil.
func (r *regression[T]) factorize(m moments, floor []float64) [][]float64 {
	l := make([][]float64, r.controls)
	for i := range l {
		square := m.covariance(i, i)
		if !(square > floor[i]*m.count()) {
			continue
		}
		row := make([]float64, i+1)
		rest := square * (1 + priorWeight/m.count())
		for j := range i {
			if l[j] == nil {
				continue
			}
			v := m.covariance(i, j)
			for a := range j {
				if l[a] != nil {
					v -= row[a] * l[j][a]
				}
			}
			row[j] = v / l[j][j]
			rest -= row[j] * row[j]
		}
		if rest > collinear*square {
			row[i] = math.Sqrt(rest)
			l[i] = row
		}
	}
	return l
}

// collinear is the share of a control's variance that those before it must leave.
const collinear = 1e-6

// solveCholesky writes the solution of l l' x = b; rows of l that are nil have x = 0.
func solveCholesky(l [][]float64, x []float64, b func(i int) float64) {
	for i := range l {
		if l[i] == nil {
			continue
		}
		x[i] = b(i)
		for j := range i {
			x[i] -= l[i][j] * x[j] // x[j] = 0 where l[j] is nil
		}
		x[i] /= l[i][i]
	}
	for i := len(l) - 1; i >= 0; i-- {
		if l[i] == nil {
			continue
		}
		for j := i + 1; j < len(l); j++ {
			if l[j] != nil {
				x[i] -= l[j][i] * x[j]
			}
		}
		x[i] /= l[i][i]
	}
}

// jackknife is the standard error of an estimate from its values with one of G groups
// deleted in turn, NaN for fewer than two.
func jackknife(without []float64) float64 {
	g := float64(len(without))
	if g < 2 {
		return math.NaN()
	}
	about := make([]float64, len(without)) // so that equal ones have no error at all
	for i, v := range without {
		about[i] = v - without[0]
	}
	return math.Sqrt((g - 1) * stat.PopVariance(about, nil))
}
