package loss

import (
	"math"
	"slices"
	"sync"

	"bootbench/blas"
)

// MomentsTogether computes, for those sites that vector kernels of the bound backend know, the moments of
// site i under cav[i], and marks them as done. Other sites, and those marked before, are left alone.
func MomentsTogether(dst []Moments, done []bool, sites []Site, cav []Cavity) {
	aroundKinks(done, sites, cav, func(l *kinkLanes, number int, cav []Cavity, first int) {
		for k, i := range l.sites[:number] {
			l.moments(&dst[first+i], k, cav[i])
			done[first+i] = true
		}
	})
}

// MomentSlopesTogether is MomentsTogether with the derivatives of MomentSloper, where these are known.
func MomentSlopesTogether(dst []Moments, by [][3]Moments, done []bool, sites []Site, cav []Cavity) {
	aroundKinks(done, sites, cav, func(l *kinkLanes, number int, cav []Cavity, first int) {
		if l.curved {
			return
		}
		for k, i := range l.sites[:number] {
			s := l.sums(k)
			l.moments(&dst[first+i], k, cav[i])
			by[first+i] = s.slopes(cav[i])
			done[first+i] = true
		}
	})
}

// kinkLanes are places for vector kernels, and the sites that stand there.
type kinkLanes struct {
	blas.KinkLanes
	mixtures [blas.MaxKinkLanes]*mixture // of the sites, nil where they need no answer, or have it
	sites    [blas.MaxKinkLanes]int      // of the lanes, and what these stand for
	sd       [blas.MaxKinkLanes]float64
	kinks    [blas.MaxKinkLanes]float64
	curved   bool // their losses
}

var kinkLanesPool = sync.Pool{New: func() any { return new(kinkLanes) }}

// aroundKinks has found called for sites of equal rows, whose sums are then in lanes: with the cavities of as
// many sites as there are lanes at most, from one on.
func aroundKinks(done []bool, sites []Site, cav []Cavity, found func(l *kinkLanes, number int, cav []Cavity,
	first int)) {
	if !blas.HasKinks() {
		return
	}
	l := kinkLanesPool.Get().(*kinkLanes)
	defer kinkLanesPool.Put(l)
	for first := 0; first < len(sites); first += blas.MaxKinkLanes {
		last := min(len(sites), first+blas.MaxKinkLanes)
		l.gather(done[first:last], sites[first:last], cav[first:last])
		for i, x := range l.mixtures[:last-first] {
			if x == nil || l.mixtures[i] == nil {
				continue
			}
			if number := l.fill(x.rows, i, cav[first:last]); number > 0 {
				l.Average(number, x.rows)
				found(l, number, cav[first:last], first)
			}
		}
	}
}

// gather lists the mixtures of the sites that kernels know.
func (l *kinkLanes) gather(done []bool, sites []Site, cav []Cavity) {
	for i, site := range sites {
		l.mixtures[i] = nil
		if done[i] {
			continue
		}
		var x *mixture
		switch s := site.(type) {
		case *piecewiseSite:
			x = s.all
		case *straightSite:
			if s.within(cav[i]) {
				x = s.all
			}
		}
		if x != nil && x.rows != nil {
			l.mixtures[i] = x
		}
	}
}

// fill moves the sites of the given rows, from one on, to the lanes, and returns their number.
func (l *kinkLanes) fill(rows []blas.KinkRow, from int, cav []Cavity) (number int) {
	l.curved = l.mixtures[from].curved
	for i := from; i < len(cav); i++ {
		x := l.mixtures[i]
		if x == nil || &x.rows[0] != &rows[0] {
			continue
		}
		l.mixtures[i] = nil
		if at := x.standardKink(cav[i]); x.fromZ <= at.z && at.z <= x.toZ && at.valid() {
			l.sites[number], l.sd[number], l.kinks[number] = i, at.sd, x.kinks[0]
			l.Z[number], l.Scale[number], l.C[number] = at.z, at.scale, cav[i].C
			number++
		}
	}
	return number
}

// moments are those of a lane. Far from the kink nothing bends the cavity's.
func (l *kinkLanes) moments(m *Moments, k int, cav Cavity) {
	first, sd := l.First[k], l.sd[k]
	m.Mean, m.Var = l.kinks[k]+sd*first, cav.Var*(l.Second[k]-first*first)
	if math.Abs(l.Z[k]) > maxKinkZ {
		m.Mean, m.Var = cav.Mean, cav.Var
	}
	m.Response, m.Shrinkage, m.Clamped = l.Keep[k], l.Pull[k], false
}

// sums are those of a lane.
func (l *kinkLanes) sums(k int) kinkSums {
	return kinkSums{
		first: l.First[k], second: l.Second[k], keep: l.Keep[k], pull: l.Pull[k],
		firstByScale: l.FirstByScale[k], secondByScale: l.SecondByScale[k], keepByZ: l.KeepByZ[k],
		keepByScale:  l.KeepByScale[k],
		standardKink: standardKink{l.sd[k], l.Z[k], l.Scale[k]},
	}
}

// Places that vector kernels know.
const (
	farthestReach = 40 // where any tail is 0
	farthestZ     = 36 // where they know tails
)

// setRows lists the rows for vector kernels, where they have one kink at which all are least, and from where
// to where these may have it: far away if nothing moves there.
func (x *mixture) setRows() {
	if len(x.kinks) != 1 {
		return
	}
	x.fromZ, x.toZ = -farthestZ, farthestZ
	for i, p := range x.p {
		below, above := x.slopes[2*i], x.slopes[2*i+1]
		if !(below <= 0 && above >= 0) {
			x.rows = nil
			return
		}
		if below != 0 || x.curvatures[2*i] != 0 {
			x.toZ = maxKinkZ
		}
		if above != 0 || x.curvatures[2*i+1] != 0 {
			x.fromZ = -maxKinkZ
		}
		x.rows = append(x.rows, blas.KinkRow{P: p, Below: below, Above: above,
			CurvedBelow: x.curvatures[2*i], CurvedAbove: x.curvatures[2*i+1],
			Reach: math.Min(x.reach[i], farthestReach)})
	}
}

// maxSharedRows is the number of lists that are compared.
const maxSharedRows = 32

// shareRows gives sites of equal rows, whose targets differ, one list of them.
func shareRows(sites []Site) {
	var lists [][]blas.KinkRow
	for _, site := range sites {
		var x *mixture
		switch s := site.(type) {
		case *piecewiseSite:
			x = s.all
		case *straightSite:
			x = s.all
		}
		if x == nil || x.rows == nil {
			continue
		}
		equal := func(list []blas.KinkRow) bool { return slices.Equal(list, x.rows) }
		if at := slices.IndexFunc(lists, equal); at >= 0 {
			x.rows = lists[at]
		} else if len(lists) < maxSharedRows {
			lists = append(lists, x.rows)
		}
	}
}
