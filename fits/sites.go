package fits

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"bootbench/loss"
)

// maxOutcomes bounds the joint counts of a site's different targets that are enumerated.
const maxOutcomes = 1 << 15

// siteForce is the change of a site's force in the first iterate, xi(s) - g = (f_s(m_c) - m)/chi, as a
// function of the counts of its examples.
type siteForce struct {
	loss      loss.Proximal
	cavity    loss.Cavity
	mean, chi float64
	target    []float64 // different targets of the site's examples
	copies    []int     // number of examples of each target
	weight    []float64 // workspace
}

// newSiteForce groups the targets y of a site's examples.
func newSiteForce(l loss.Proximal, cavity loss.Cavity, mean, chi float64, y []float64) *siteForce {
	s := &siteForce{loss: l, cavity: cavity, mean: mean, chi: chi}
	for _, v := range y {
		j := slices.Index(s.target, v)
		if j < 0 {
			j = len(s.target)
			s.target, s.copies = append(s.target, v), append(s.copies, 0)
		}
		s.copies[j]++
	}
	s.weight = make([]float64, len(s.target))
	return s
}

// value is xi - g for counts k of the different targets.
func (s *siteForce) value(k []int) float64 {
	for j, v := range k {
		s.weight[j] = float64(v)
	}
	f, _ := s.loss.Prox(s.cavity.C, s.cavity.Mean, s.target, s.weight)
	return (f - s.mean) / s.chi
}

// moments are the mean and the variance of xi - g under a law of the counts. If without >= 0, one example of
// that target is left out, and law is the law of the others.
func (s *siteForce) moments(law *jointCounts, without int) (mean, variance float64, err error) {
	copies := slices.Clone(s.copies)
	if without >= 0 {
		copies[without]--
	}
	if t := loss.TraitsOf(s.loss); t.Quadratic && len(copies) > 1 {
		mean, variance = s.squareMoments(t.Noise, law, copies)
		return mean, variance, nil
	}
	values, p, err := s.outcomes(law, copies)
	if err != nil {
		return 0, 0, err
	}
	mean, variance = stat.PopMeanVariance(values, p)
	return mean, variance, nil
}

// outcomes are the values of xi - g for all joint counts of the different targets, and their probabilities.
func (s *siteForce) outcomes(law *jointCounts, copies []int) (values, p []float64, err error) {
	windows, first, k := make([]int, len(copies)), make([]int, len(copies)), make([]int, len(copies))
	count := 1
	for j, n := range copies {
		counts := law.total(n)
		windows[j], first[j] = len(counts.P), counts.First
		if count *= windows[j]; count > maxOutcomes && len(copies) > 1 {
			return nil, nil, errors.New("too many different targets at one input to enumerate their counts")
		}
	}
	for all := combin.NewCartesianGenerator(windows); all.Next(); {
		for j, at := range all.Product(k) {
			k[j] = first[j] + at
		}
		if q := law.prob(copies, k); q > 0 {
			values, p = append(values, s.value(k)), append(p, q)
		}
	}
	return values, p, nil
}

// squareMoments are moments in closed form: given the total count k the sum of the drawn targets has mean k
// times theirs, and variance WithinSiteVar times theirs.
func (s *siteForce) squareMoments(noise float64, law *jointCounts, copies []int) (mean, variance float64) {
	weights, n := make([]float64, len(copies)), 0
	for j, c := range copies {
		weights[j] = float64(c)
		n += c
	}
	center, spread := 0.0, 0.0
	if n > 0 {
		center, spread = stat.PopMeanVariance(s.target, weights)
	}
	var values, p []float64
	within, total := 0.0, 0.0
	for k, q := range law.total(n).All() {
		precision := float64(k) / noise
		f := s.cavity.Mean + precision*(center-s.cavity.Mean)/(s.cavity.C+precision)
		scale := noise * (s.cavity.C + precision) * s.chi
		values, p = append(values, (f-s.mean)/s.chi), append(p, q)
		within += q * law.scheme.WithinSiteVar(n, float64(k)) * spread / (scale * scale)
		total += q
	}
	mean, variance = stat.PopMeanVariance(values, p)
	return mean, variance + within/total
}
