package loss

import (
	"math"

	"bootbench/loss/internal/normal"
)

// VoteShare is P(f > 0) + P(f = 0)/2 over resamples of the predictor at a site: that of its
// Distribution, which is not made where the field h at which the proximal map passes 0 is known,
// for k draws h = sum_j k_j l'(0, y_j)/c (T3).
func VoteShare(s Site, cav Cavity) float64 {
	var counts []float64
	var fields []float64
	switch s := s.(type) {
	case *piecewiseSite:
		counts, fields = s.all.p, s.all.fieldsOfZero(cav.C)
	case *smoothSite:
		counts, fields = s.all.P, s.all.fieldsOfZero(cav.C)
	}
	if fields == nil || cav.Var == 0 {
		return s.Distribution(cav).Vote()
	}
	vote, sd := 0.0, math.Sqrt(cav.Var)
	for i, p := range counts {
		vote += p * normal.CDF((cav.Mean-fields[i])/sd)
	}
	return vote
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
	if x.derivatives == nil || x.breakpoints != nil {
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
