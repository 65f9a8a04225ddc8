package loss

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/resample"
)

// drawn is a site whose examples are always there, with targets that are drawn: part r, a site of given
// targets, has probability p_r. It has the moments (T4) of the mixture of the parts.
type drawn struct {
	parts []Site
	p     []float64
}

// Drawn is the site of examples that have targets[r] with probability p[r]; parts[r] is the site of these,
// each example there once. The site of the square loss is Quadratic: d and c do not depend on the targets,
// and the variances of the targets, independent of each other, add up.
func Drawn(targets [][]float64, p []float64, parts []Site) Site {
	law := &drawn{parts, p}
	if len(parts) == 0 {
		return law
	}
	first, square := parts[0].(*squareSite)
	if !square {
		return law
	}
	n, all := len(targets[0]), *first
	all.mean, all.variance = 0, 0
	for k := range n {
		of := make([]float64, len(p))
		for r := range of {
			of[r] = targets[r][k]
		}
		mean, variance := stat.PopMeanVariance(of, p)
		all.mean, all.variance = all.mean+mean/float64(n), all.variance+variance/float64(n)
	}
	all.counts = &resample.Draws{Counts: first.counts.Counts, WithinSiteVar: []float64{float64(n)}}
	return drawnSquare{&all, law}
}

// drawnSquare is drawn for the square loss.
type drawnSquare struct {
	*squareSite
	law *drawn
}

func (s drawnSquare) Distribution(cav Cavity) Distribution { return s.law.Distribution(cav) }
func (s drawnSquare) LeftOut(cav Cavity, copy int, test Test) float64 {
	return s.law.LeftOut(cav, copy, test)
}

// partsOf are the parts of all drawn sites.
func partsOf(sites []Site) (parts []Site) {
	for _, site := range sites {
		if s, ok := site.(*drawn); ok {
			parts = append(parts, s.parts...)
		}
	}
	return parts
}

// moments are the moments of the parts, and of the mixture.
func (s *drawn) moments(cav Cavity) (of []Moments, all Moments) {
	for r, part := range s.parts {
		m := part.Moments(cav)
		of = append(of, m)
		all.Mean += s.p[r] * m.Mean
		all.Shrinkage += s.p[r] * m.Shrinkage
		all.Response += s.p[r] * m.Response
	}
	for r, m := range of {
		off := m.Mean - all.Mean
		all.Var += s.p[r] * (m.Var + off*off)
	}
	return of, all
}

// Moments has the moments of the mixture.
func (s *drawn) Moments(cav Cavity) Moments {
	_, all := s.moments(cav)
	return all
}

// MomentSlopes has the slopes of the mixture, if all parts know theirs.
func (s *drawn) MomentSlopes(cav Cavity) (by [3]Moments, ok bool) {
	of, all := s.moments(cav)
	for r, part := range s.parts {
		sloped, ok := part.(Sloped)
		if !ok {
			return by, false
		}
		slopes, ok := sloped.MomentSlopes(cav)
		if !ok {
			return by, false
		}
		for k, m := range slopes {
			by[k].Mean += s.p[r] * m.Mean
			by[k].Var += s.p[r] * (m.Var + 2*(of[r].Mean-all.Mean)*m.Mean)
			by[k].Shrinkage += s.p[r] * m.Shrinkage
			by[k].Response += s.p[r] * m.Response
		}
	}
	return by, true
}

// Distribution is the mixture of the parts'.
func (s *drawn) Distribution(cav Cavity) (all Distribution) {
	for r, part := range s.parts {
		d := part.Distribution(cav)
		for _, m := range d.parts {
			m.weight *= s.p[r]
			all.parts = append(all.parts, m)
		}
		all.atoms = append(all.atoms, d.atoms...)
	}
	return all
}

// LeftOut is the mean over the parts, for the targets of each.
func (s *drawn) LeftOut(cav Cavity, copy int, test Test) float64 {
	values := make([]float64, len(s.parts))
	for r, part := range s.parts {
		values[r] = part.LeftOut(cav, copy, test)
	}
	return floats.Dot(values, s.p)
}
