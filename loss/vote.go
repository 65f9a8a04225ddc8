package loss

import (
	"math"

	"bootbench/loss/internal/normal"
)

// VoteShare is P(f > 0) + P(f = 0)/2 over resamples of the predictor at a site: that of its
// Distribution, which is not made where the field h at which the proximal map passes 0 is known,
// for k draws h = sum_j k_j l'(0, y_j)/c (T3).
func VoteShare(s Site, cav Cavity) float64 {
	var vote float64
	var ok bool
	switch s := s.(type) {
	case *piecewiseSite:
		vote, ok = s.all.vote(cav, 1)
	case *smoothSite:
		vote, ok = voteShare(s.all.P, s.all.fieldsOfZero(cav.C), cav, 1)
	}
	if !ok {
		return s.Distribution(cav).Vote()
	}
	return vote
}

// vote is the share of votes for the class of the sign of y.
func (x *mixture) vote(cav Cavity, y float64) (float64, bool) {
	return voteShare(x.p, x.fieldsOfZero(cav.C), cav, y)
}

// voteShare is the share where the field is on the side of y of those that are mapped to 0, of rows of
// the given probabilities. ok is false where these are not known, or votes may be split.
func voteShare(p, fields []float64, cav Cavity, y float64) (vote float64, ok bool) {
	if fields == nil || cav.Var == 0 || y == 0 {
		return 0, false
	}
	sd := math.Sqrt(cav.Var)
	for i, v := range p {
		vote += v * normal.CDF(math.Copysign(1, y)*(cav.Mean-fields[i])/sd)
	}
	return vote, true
}

// fieldsOfZero are the fields that are mapped to 0, of all rows, or nil if a kink lies there.
func (x *mixture) fieldsOfZero(c float64) []float64 {
	j := 0
	for _, kink := range x.kinks {
		if kink == 0 {
			return nil
		}
		if kink < 0 {
			j++
		}
	}
	fields := make([]float64, len(x.p))
	for i := range fields {
		row := x.row(i)
		if len(x.kinks) > 0 {
			fields[i] = row.slopeAt(j, 0) / c
		}
	}
	return fields
}

// fieldsOfZero are the fields that are mapped to 0, of all rows, or nil if l' is not known
// there.
func (x smoothMixture) fieldsOfZero(c float64) []float64 {
	if x.derivatives == nil {
		return nil
	}
	fields := make([]float64, len(x.P))
	for i := range fields {
		for j, k := range x.Row(i) {
			first, _ := x.derivatives(0, x.Targets[j])
			fields[i] += k * first / c
		}
	}
	return fields
}
