package loss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Nodes common to the fields of a cavity.
const (
	posteriorStep  = 0.65  // between nodes, in standard deviations of the narrowest posterior
	maxStep        = 0.5   // between nodes at most: poles of logit are pi away
	posteriorReach = 8     // beyond the modes, in units of 1/sqrt(c)
	posteriorNodes = 4096  // at most
	posteriorTol   = 1e-10 // error of the predictor in units of 1/sqrt(c), and of its slope
	leastMass      = 1e-280
)

// posteriors computes the predictor of a likelihood and its slope at fields, for every row of counts k:
// element j len(P) + i belongs to row i at field j. The posterior is
//
//	exp(-c/2 (f-h)^2) prod_j p(y_j|f)^k_j
//
// up to normalisation: the first factor is common to all rows, the second to all fields. The error of the
// trapezoid rule on evenly spaced nodes is at most about the squared difference of its two halves, of twice
// the step. If that is too large, all nodes are too far from the mode, or the nodes would be too many, the
// integral is computed separately.
func (x smoothMixture) posteriors(c float64, fields, f, slope []float64) {
	rows := len(x.P)
	nodes, powers := x.powers(c, slices.Min(fields), slices.Max(fields))
	gauss := make([]float64, len(nodes))
	for j, h := range fields {
		for n, u := range nodes {
			gauss[n] = math.Exp(-0.5 * c * (u - h) * (u - h))
		}
		for i, p := range x.P {
			at := j*rows + i
			mean, variance, ok := integrate(nodes, gauss, powers[i*len(nodes):(i+1)*len(nodes)], h, c, p)
			if ok {
				f[at], slope[at] = h+mean, c*variance
			} else {
				f[at], slope[at] = x.posteriorMean(c, h, x.Targets, x.Row(i))
			}
		}
	}
}

// integrate computes the mean minus h and the variance of the density gauss times power.
func integrate(nodes, gauss, power []float64, h, c, weight float64) (mean, variance float64, ok bool) {
	var even, odd [3]float64
	gauss, power = gauss[:len(nodes)], power[:len(nodes)]
	for n := 1; n < len(nodes); n += 2 {
		u, w := nodes[n-1]-h, gauss[n-1]*power[n-1]
		even[0] += w
		even[1] += w * u
		even[2] += w * u * u
		u, w = nodes[n]-h, gauss[n]*power[n]
		odd[0] += w
		odd[1] += w * u
		odd[2] += w * u * u
	}
	mass := even[0] + odd[0]
	if !(mass > leastMass) {
		return 0, 0, false
	}
	mean = (even[1] + odd[1]) / mass
	variance = (even[2]+odd[2])/mass - mean*mean
	evenMean, oddMean := even[1]/even[0], odd[1]/odd[0]
	halves := max(math.Abs(even[0]-odd[0])/mass, math.Abs(evenMean-oddMean)*math.Sqrt(c),
		c*math.Abs(even[2]/even[0]-evenMean*evenMean-odd[2]/odd[0]+oddMean*oddMean))
	return mean, variance, weight*halves*halves <= posteriorTol
}

// powers lists nodes for fields from lo to hi, an even number, and prod_j p(y_j|f)^k_j there relative to its
// largest, for each row of counts; nil if the nodes would be too many.
func (x smoothMixture) powers(c, lo, hi float64) (nodes, powers []float64) {
	from, to, most := lo, hi, 0.0
	for i := range x.P {
		k := x.Row(i)
		first, _ := peak(x.likelihood, c, lo, x.Targets, k)
		last, _ := peak(x.likelihood, c, hi, x.Targets, k)
		from, to = min(from, first), max(to, last)
		most = max(most, floats.Sum(k))
	}
	from, to = from-posteriorReach/math.Sqrt(c), to+posteriorReach/math.Sqrt(c)
	step := min(posteriorStep/math.Sqrt(c+most*x.likelihood.curvature()), maxStep)
	n := math.Ceil((to - from) / step)
	if !(n <= posteriorNodes) {
		return nil, nil
	}
	nodes = make([]float64, int(n)+int(n)%2)
	logs := make([]float64, len(x.Targets)*len(nodes))
	for j := range nodes {
		nodes[j] = from + step*float64(j)
		for t, y := range x.Targets {
			logs[t*len(nodes)+j] = -x.likelihood.Value(nodes[j], y)
		}
	}
	powers = make([]float64, len(x.P)*len(nodes))
	for i := range x.P {
		row := powers[i*len(nodes) : (i+1)*len(nodes)]
		for t, k := range x.Row(i) {
			if k > 0 {
				floats.AddScaled(row, k, logs[t*len(nodes):(t+1)*len(nodes)])
			}
		}
		top := slices.Max(row)
		for j, v := range row {
			row[j] = math.Exp(v - top)
		}
	}
	return nodes, powers
}
