package loss

import (
	"math"

	"bootbench/loss/internal/normal"
)

// Limits of moments around one of several kinks.
const (
	maxKinks    = 4    // more are left to segmentIntegrator
	leastSpread = 1e-3 // variance beside the mean square around the kink, below which three digits are lost
)

// place is a standardised field, with what lies on either side.
type place struct {
	z            float64
	below, above normal.Side
}

func placeAt(z, reach float64) place {
	switch {
	case z < -reach:
		return place{z, normal.Side{Rest: 1}, normal.Side{P: 1, First: -z, Second: 1 + z*z}}
	case z > reach:
		return place{z, normal.Side{P: 1, First: z, Second: 1 + z*z}, normal.Side{Rest: 1}}
	}
	below, above := normal.Sides(z)
	return place{z, below, above}
}

// massBetween is P(a < x < b), not below 0 where one of the two lies beyond reach.
func massBetween(a, b *place) float64 { return math.Max(0, flatMass(a.z, b.z, &a.below, &b.above)) }

// climb adds up the moments of a map on one side of a kink, in standard deviations from it:
// of the sum of the rises k (x-start)+ - k (x-end)+ over its segments, where each but the
// last ends before the next starts.
type climb struct {
	first, second, keep, pull float64
	height                    float64 // of all segments so far
}

// segment adds one of curvature q from start to end, up or down, width apart, which is given for
// its digits. Far beyond its end it is its width but for what lies behind.
func (s *climb) segment(start, end *place, up bool, width, c, q float64) {
	at, to, behind, behindTo, z := &start.above, &end.above, &start.below, &end.below, end.z
	mass := massBetween(start, end)
	if !up {
		at, to, behind, behindTo, z = behind, behindTo, at, to, -z
		mass = massBetween(end, start)
	}
	rise, square := at.First-to.First, at.Second-to.Second-2*width*to.First
	if z <= 0 {
		rise = width - (behindTo.First - behind.First)
		square = width*width + behindTo.Second - behind.Second - 2*width*behindTo.First
	}
	slope := c / (c + q)
	s.add(rise, square, mass, slope, q/(c+q))
	s.height += slope * width
}

// last adds the segment that does not end, by what lies beyond its start.
func (s *climb) last(beyond *normal.Side, c, q float64) {
	s.add(beyond.First, beyond.Second, beyond.P, c/(c+q), q/(c+q))
}

// add adds a rise of the given mean, mean square and mass, times slope = 1 - pull.
func (s *climb) add(rise, square, mass, slope, pull float64) {
	s.first += slope * rise
	s.second += slope*slope*square + 2*s.height*slope*rise
	s.keep += slope * mass
	s.pull += pull * mass
}

// severalKinkMoments are the moments of a mixture of several kinks around that to which the cavity's
// mean is carried, or the nearest: see kinkMoments. ok is false where that is no place to sum
// them from.
func (x *mixture) severalKinkMoments(cav Cavity) (m Moments, ok bool) {
	n := len(x.kinks)
	sd := math.Sqrt(cav.Var)
	scale := 1 / (cav.C * sd)
	first := x.row(0)
	at, _ := first.prox(cav.C, cav.Mean)
	ref := 0
	for j, kink := range x.kinks {
		if math.Abs(kink-at) < math.Abs(x.kinks[ref]-at) {
			ref = j
		}
	}
	if !(n <= maxKinks && math.Abs(x.kinks[ref]-cav.Mean) <= maxKinkZ*sd && scale <= math.MaxFloat64) {
		return m, false
	}
	var alone, lo, hi [maxKinks]place // without examples, and where the fields that a kink takes begin and end
	for j, kink := range x.kinks {
		alone[j] = placeAt((kink-cav.Mean)/sd, math.Inf(1))
	}
	mean, second := 0.0, 0.0
	for i, p := range x.p {
		if x.reach[i] == 0 { // the whole row is negligible
			continue
		}
		row := x.row(i)
		for j, kink := range x.kinks {
			lo[j], hi[j] = alone[j], alone[j]
			if below := row.slopeAt(j, kink); below != 0 {
				lo[j] = placeAt(alone[j].z+below*scale, x.reach[i])
			}
			switch above := row.slopes[j+1]; above {
			case row.slopeAt(j, kink):
				hi[j] = lo[j]
			case 0:
			default:
				hi[j] = placeAt(alone[j].z+above*scale, x.reach[i])
			}
		}
		width := func(j int) float64 { // of the segment above kink j, in fields
			return (x.kinks[j+1] - x.kinks[j]) * (1 + row.curvatures[j+1]/cav.C) / sd
		}
		var right, left climb
		for j := ref; j < n-1; j++ {
			right.segment(&hi[j], &lo[j+1], true, width(j), cav.C, row.curvatures[j+1])
			right.pull += massBetween(&lo[j+1], &hi[j+1])
		}
		right.last(&hi[n-1].above, cav.C, row.curvatures[n])
		for j := ref; j > 0; j-- {
			left.segment(&lo[j], &hi[j-1], false, width(j-1), cav.C, row.curvatures[j])
			left.pull += massBetween(&lo[j-1], &hi[j-1])
		}
		left.last(&lo[0].below, cav.C, row.curvatures[0])
		mean += p * (right.first - left.first)
		second += p * (right.second + left.second)
		m.Response += p * (right.keep + left.keep)
		m.Shrinkage += p * (right.pull + left.pull + massBetween(&lo[ref], &hi[ref]))
	}
	spread := second - mean*mean
	m.Mean, m.Var = x.kinks[ref]+sd*mean, cav.Var*spread
	return m, spread >= leastSpread*second
}
