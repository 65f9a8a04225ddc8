package retrain

import "math"

// moments gathers, element by element, the mean and the central sums m_p = sum_b (f_b - mean)^p, p = 2, 3, 4,
// of a sequence of vectors. Each new vector shifts the mean by delta/n and the sums by the binomial terms of
// that shift, so nothing of the size of mean^p is ever subtracted.
type moments struct {
	n                float64
	mean, m2, m3, m4 []float64
}

func newMoments(size int) *moments {
	return &moments{
		mean: make([]float64, size), m2: make([]float64, size),
		m3: make([]float64, size), m4: make([]float64, size),
	}
}

// add takes in one more vector.
func (m *moments) add(f []float64) {
	m.n++
	n := m.n
	for i, x := range f {
		delta := x - m.mean[i]
		shift := delta / n
		shift2 := shift * shift
		square := delta * shift * (n - 1) // what m2 gains
		m.m4[i] += square*shift2*(n*n-3*n+3) + 6*shift2*m.m2[i] - 4*shift*m.m3[i]
		m.m3[i] += square*shift*(n-2) - 3*shift*m.m2[i]
		m.m2[i] += square
		m.mean[i] += shift
	}
}

// average is a mean and a variance over resamples, and their standard errors;
// NaN where the resamples cannot tell.
type average struct{ mean, meanSE, variance, varianceSE float64 }

func unknown() average { return average{math.NaN(), math.NaN(), math.NaN(), math.NaN()} }

// independent is the average of element i if all vectors were independent.
func (m *moments) independent(i int) average {
	a, n := unknown(), m.n
	if n >= 1 {
		a.mean = m.mean[i]
	}
	if n >= 2 {
		a.variance = m.m2[i] / (n - 1)
		a.meanSE = math.Sqrt(a.variance / n)
		a.varianceSE = math.Sqrt(math.Max(0, varianceOfVariance(n, m.m2[i], m.m4[i])))
	}
	return a
}

// varianceOfVariance is the unbiased estimate of the variance of k2, itself the
// unbiased estimate of a variance from n >= 2 independent values with central
// sums m2 and m4. In the k-statistics, the unbiased estimates of cumulants,
//
//	(2 n k2^2 + (n-1) k4)/(n (n+1)).
//
// It may be negative. Two or three values tell nothing of k4, which is then taken to be 0 as for a Gaussian.
func varianceOfVariance(n, m2, m4 float64) float64 {
	k2, k4 := m2/(n-1), 0.0
	if n >= 4 {
		k4 = n * ((n+1)*m4 - 3*(n-1)/n*m2*m2) / ((n - 1) * (n - 2) * (n - 3))
	}
	return (2*n*k2*k2 + (n-1)*k4) / (n * (n + 1))
}

// grouped are moments of resamples that depend on each other within periods:
// all together, and group by group for the jackknife.
type grouped struct {
	grouping
	all   *moments
	parts [groups]*moments // none where resamples are independent
}

func newGrouped(size, period int) *grouped {
	g := &grouped{grouping: grouping{period: period}, all: newMoments(size)}
	if period > 1 {
		for i := range g.parts {
			g.parts[i] = newMoments(size)
		}
	}
	return g
}

// add takes in the next resample.
func (g *grouped) add(f []float64) {
	g.all.add(f)
	if group := g.next(); g.period > 1 {
		g.parts[group].add(f)
	}
}

// average is that of element i. Where resamples depend on each other, the standard errors are jackknifed, and
// the variance about the mean of n resamples falls short of the variance by the variance of that mean.
func (g *grouped) average(i int) average {
	if g.period == 1 {
		return g.all.independent(i)
	}
	a := unknown()
	if g.all.n == 0 {
		return a
	}
	a.mean, a.variance = g.all.mean[i], g.all.m2[i]/g.all.n
	var means, variances []float64
	for without := range g.used() {
		mean, variance := g.without(i, without)
		means, variances = append(means, mean), append(variances, variance)
	}
	if len(means) > 1 {
		a.meanSE, a.varianceSE = Jackknife(means), Jackknife(variances)
		a.variance += a.meanSE * a.meanSE
	}
	return a
}

// without is the mean and the variance about it of all groups but one.
func (g *grouped) without(i, group int) (mean, variance float64) {
	n, m2 := 0.0, 0.0
	for j, part := range g.parts {
		if j == group || part.n == 0 {
			continue
		}
		off := part.mean[i] - mean
		m2 += part.m2[i] + off*off*n*part.n/(n+part.n)
		n += part.n
		mean += off * part.n / n
	}
	return mean, m2 / n
}
