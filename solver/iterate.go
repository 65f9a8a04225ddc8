package solver

import (
	"math"
)

// cavities are log c, m_c and log V_c of all M sites, concatenated. m_c is in units of (unit^2 + V_c)^1/2: if
// the predictor is much larger than the targets, as for a hard margin on a nearly singular K, only log V_c
// depends on its size.
type cavities []float64

func (x cavities) logC() []float64 { return x[:len(x)/3] }
func (x cavities) mean() []float64 { return x[len(x)/3 : 2*len(x)/3] }
func (x cavities) logV() []float64 { return x[2*len(x)/3:] }

// of is the three coordinates of site i.
func (x cavities) of(i int) [3]float64 { return [3]float64{x.logC()[i], x.mean()[i], x.logV()[i]} }

// towards moves x by the fraction part towards goal.
func (x cavities) towards(goal cavities, part float64) {
	for i, v := range goal {
		x[i] += part * (v - x[i])
	}
}

// distance is the root mean square over sites of the differences. It decreases steadily, unlike the largest
// relative change of d: a site at the edge of its margin changes d by decades.
func (s *siteModel) distance(a, b cavities) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum / float64(len(s.sites)))
}

// siteParams are the parameters of all sites (T5): the precision d, the field g = gamma
// and the variance u = -lambda >= 0.
type siteParams struct {
	D []float64
	G []float64
	U []float64
}

func newSiteParams(sites int) siteParams {
	return siteParams{make([]float64, sites), make([]float64, sites), make([]float64, sites)}
}

// iterate is a point of the iteration, its image under a sweep and its distance from the fixed point. It
// determines G = (K^-1 + diag d)^-1.
type iterate struct {
	cavities        cavities
	siteParams               // the sites' response to the cavities
	image           cavities // read off G
	Residual        float64  // see Solution.Residual
	Distance        float64  // from cavities to image
	SinglePrecision bool     // of G
}

func newIterate(sites int) iterate {
	return iterate{cavities: make(cavities, 3*sites), siteParams: newSiteParams(sites),
		image: make(cavities, 3*sites)}
}

// monitor tracks a residual or a distance, and sets the length of damped steps. Before the first value it
// holds math.MaxFloat64.
type monitor struct {
	best       best // since the start of the phase
	Recent     best // since inner iterations were last turned on or off
	Previous   float64
	StepLength float64 // fraction of a sweep that is taken, in (0, 1]
	// predictions (square loss) or inner iterations (others) are left out
	Plain bool
}

// best is the smallest value seen, and the number of sweeps since.
type best struct {
	Value float64
	Since int
}

func (b *best) update(v float64) {
	b.Since++
	if v < b.Value {
		b.Value, b.Since = v, 0
	}
}

// newMonitor is a monitor before the first value.
func newMonitor() monitor {
	none := best{Value: math.MaxFloat64}
	return monitor{best: none, Recent: none, Previous: math.MaxFloat64, StepLength: 1}
}

// maxNaN sets to to max(to, v), NaN if v is.
func maxNaN(to *float64, v float64) {
	if !(v <= *to) {
		*to = v
	}
}
