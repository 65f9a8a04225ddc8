package retrain

import "math"

// moments gathers, element by element, the mean and the central sums
// m_p = sum_b (f_b - mean)^p, p = 2, 3, 4, of a sequence of vectors. Each new
// vector shifts the mean by delta/n and the sums by the binomial terms of that
// shift, so nothing of the size of mean^p is ever subtracted.
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

// report returns mean, unbiased variance s^2 and their standard errors, with
// var(mean) = s^2/n and var(s^2) = (mu_4 - mu_2^2 (n-3)/(n-1))/n.
func (m *moments) report() (mean, meanSE, variance, varianceSE []float64) {
	size, n := len(m.mean), m.n
	mean, meanSE = make([]float64, size), make([]float64, size)
	variance, varianceSE = make([]float64, size), make([]float64, size)
	for i := range mean {
		mean[i], meanSE[i], variance[i], varianceSE[i] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		if n >= 1 {
			mean[i] = m.mean[i]
		}
		if n >= 2 {
			mu2, mu4 := m.m2[i]/n, m.m4[i]/n
			variance[i] = m.m2[i] / (n - 1)
			meanSE[i] = math.Sqrt(variance[i] / n)
			varianceSE[i] = math.Sqrt(math.Max(0, mu4-mu2*mu2*(n-3)/(n-1)) / n)
		}
	}
	return mean, meanSE, variance, varianceSE
}
