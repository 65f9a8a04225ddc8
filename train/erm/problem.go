package erm

import (
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// Loss is a convex loss known by its value, which is finite, and its proximal map.
type Loss = loss.Proximal

// siteLosses are the losses L_i of the active sites: those with examples and with K_ii > 0.
type siteLosses struct {
	loss Loss
	workspace.Groups
	fixed float64 // loss at the sites where K_ii = 0, and so f = 0
	bias  float64 // added to f in the loss
}

// minDiagonal is the K_ii below which f_i counts as 0.
const minDiagonal = 1e-290

// gather groups the examples of p by active site. diagonal(s) is K_ss.
func (l *siteLosses) gather(p *train.Set, m int, diagonal func(s int) float64) {
	l.fixed = 0
	for j, k := range p.Weight {
		if k > 0 && diagonal(p.Site.At(j)) < minDiagonal {
			l.fixed += k * l.loss.Value(0, p.Y[j])
		}
	}
	l.Gather(p, m, func(s int) bool { return diagonal(s) >= minDiagonal })
}

// value is L_i(f) of active site i.
func (l *siteLosses) value(i int, f float64) float64 {
	v := 0.0
	y, k := l.Of(i)
	for j := range y {
		v += k[j] * l.loss.Value(f+l.bias, y[j])
	}
	return v
}

// prox is the proximal map of L_i.
func (l *siteLosses) prox(i int, c, h float64) (f, slope float64) {
	y, k := l.Of(i)
	f, slope = l.loss.Prox(c, h+l.bias, y, k)
	return f - l.bias, slope
}
