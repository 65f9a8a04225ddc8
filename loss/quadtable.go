package loss

import (
	"math"

	"bootbench/loss/internal/counts"
)

// tabulable is a log-concave likelihood whose powers can be tabulated.
type tabulable interface {
	Likelihood
	// logLik is log p(y|f) but for a constant, at most 0.
	logLik(f, y float64) float64
	// nodeDensity is about the root of the curvature that -log p(y|f) has near f,
	// and its integral over f. Nodes evenly spaced in the integral resolve p(y|f).
	nodeDensity(f, y float64) (integral, root float64)
	// maxNodeDensity is the largest root.
	maxNodeDensity() float64
}

// Limits on the nodes of a table.
const (
	tableReach = 8      // fields that a tablePanel covers either side, in units of 1/sqrt(c)
	tableStep  = 0.56   // between nodes, where the integral of the node density is 1
	maxRefined = 6      // times that the step is shortened, where it is not enough
	tableTol   = 1e-10  // error of the predictor in units of 1/sqrt(c), and of its slope
	maxNodes   = 4096   // of a panel
	maxPanels  = 64     // that are kept
	maxCached  = 512    // fields of a panel that are remembered
	negligible = 32     // exponent below the top, at weight 1
	leastMass  = 1e-280 // next to which all that underflows is nothing
)

// quadTable is the predictor of a likelihood for every combination of counts over a
// range of fields, by quadrature with shared nodes. At the field center + v and
// at f = center + u the posterior of the counts k is
//
//	exp(c u v) P_k(u),  P_k(u) = exp(-c u^2/2) prod_j p(y_j|f)^k_j
//
// but for its norm: all fields share P_k, all counts share exp(c u v). For fields
// far away both underflow, so that a table has several panels, made where needed.
type quadTable struct {
	smoothMixture
	c      float64
	first  float64   // field
	half   float64   // of the range of a panel
	weight []float64 // of the combinations' errors
	absent []bool    // combinations without examples
	reach  []float64 // exponent below the top that counts for a combination
	power  []float64 // factor of the node density of each target
	panels map[int]*tablePanel
}

// newQuadTable makes a table for fields within reach of the mean; others cost more.
// An error in row i of the counts has the weight weight[i].
func newQuadTable(x smoothMixture, c, mean, reach float64, weight []float64) *quadTable {
	t := &quadTable{
		smoothMixture: x, c: c, weight: weight,
		absent: make([]bool, len(x.P)), reach: make([]float64, len(x.P)), power: make([]float64, len(x.Targets)),
		panels: map[int]*tablePanel{},
	}
	t.half = reach / max(1, math.Ceil(reach*math.Sqrt(c)/tableReach))
	t.half = max(t.half, 0.01/math.Sqrt(c), 1e-12*math.Abs(mean)) * (1 + 1e-9) // both ends are in
	t.first = mean - math.Max(reach, t.half)
	// The logarithm of the error is inversely as the count times the squared step.
	for i, w := range weight {
		t.absent[i] = counts.IsEmpty(x.Row(i))
		t.reach[i] = negligible + math.Log(w)
		share := 1 - math.Log(w)/math.Log(tableTol)
		for j, k := range x.Row(i) {
			t.power[j] = math.Max(t.power[j], share*k)
		}
	}
	// The curvature is at most c + k r^2, and its root, a convex function of r, is
	// at most that for the largest r in proportion.
	maxDensity := x.likelihood.maxNodeDensity()
	for j, k := range t.power {
		t.power[j] = k * maxDensity / (math.Sqrt(c) + math.Sqrt(c+k*maxDensity*maxDensity))
	}
	return t
}

// tablePanel is the part of the table of the fields around center.
type tablePanel struct {
	*quadTable
	center  float64
	step    float64
	refined int
	nodes   []float64 // u, an even number of them, evenly spaced in the node density
	powers  []float64 // P_k times the weight of the node, one row for each combination
	ends    [][2]int  // of the nodes that count for a combination
	tilt    []float64 // exp(c u v), up to a factor, at the last v
	v       float64
	cached  map[float64][]float64 // tilt at fields
	failed  bool
}

// panelOf returns the panel of the field h, and makes it where it is missing.
func (t *quadTable) panelOf(h float64) *tablePanel {
	number := int(math.Floor((h - t.first) / (2 * t.half)))
	b := t.panels[number]
	if b == nil {
		if len(t.panels) == maxPanels {
			clear(t.panels)
		}
		b = &tablePanel{quadTable: t, center: t.first + t.half*float64(2*number+1), step: tableStep}
		b.fill()
		t.panels[number] = b
	}
	return b
}

// all computes the predictor at the field h and its slope for every row of counts.
func (t *quadTable) all(h float64, f, slope []float64) {
	b := t.panelOf(h)
	for !b.failed {
		b.setTilt(h)
		miss := 0.0
		for i, w := range t.weight {
			var off float64
			f[i], slope[i], off = b.moments(i)
			miss += w * off
		}
		if miss <= tableTol {
			return
		}
		b.refine()
	}
	for i := range t.weight {
		f[i], slope[i] = t.at(t.c, h, t.Targets, t.Row(i))
	}
}

// alone computes the predictor for row i of the counts at the field h, and its
// slope. It caches the field's tilt for the other rows.
func (t *quadTable) alone(i int, h float64) (f, slope float64) {
	b := t.panelOf(h)
	for !b.failed {
		b.tiltCached(h)
		f, slope, miss := b.moments(i)
		if t.weight[i]*miss <= tableTol {
			return f, slope
		}
		b.refine()
	}
	return t.at(t.c, h, t.Targets, t.Row(i))
}

// refine shortens the step.
func (b *tablePanel) refine() {
	if b.refined++; b.refined > maxRefined {
		b.failed = true
		return
	}
	b.step *= 0.8
	b.fill()
}

// setTilt computes the factors exp(c u v) at the field h.
func (b *tablePanel) setTilt(h float64) {
	b.v = h - b.center
	end := b.nodes[0]
	if b.v > 0 {
		end = b.nodes[len(b.nodes)-1]
	}
	rate := b.c * b.v
	if b.tilt == nil {
		b.tilt = make([]float64, len(b.nodes))
	}
	for n, u := range b.nodes {
		b.tilt[n] = math.Exp(rate * (u - end))
	}
}

// tiltCached is setTilt with a cache.
func (b *tablePanel) tiltCached(h float64) {
	known := b.cached[h]
	if known == nil {
		if len(b.cached) == maxCached {
			clear(b.cached)
		}
		b.tilt = nil
		b.setTilt(h)
		b.cached[h] = b.tilt
		return
	}
	b.v, b.tilt = h-b.center, known
}

// moments computes the predictor for row i of the counts and its slope. Every other node is a
// rule of its own, of twice the step: miss, the squared difference of the two, is
// about the error of both together, or above.
func (b *tablePanel) moments(i int) (f, slope, miss float64) {
	if b.absent[i] {
		return b.center + b.v, 1, 0
	}
	n := len(b.nodes)
	from, to := b.ends[i][0], b.ends[i][1]
	powers := b.powers[i*n+from : i*n+to]
	nodes, tilt := b.nodes[from:to][:len(powers)], b.tilt[from:to][:len(powers)]
	var even, odd [3]float64
	for j := 1; j < len(powers); j += 2 {
		u, w := nodes[j-1], powers[j-1]*tilt[j-1]
		even[0] += w
		even[1] += w * u
		even[2] += w * u * u
		u, w = nodes[j], powers[j]*tilt[j]
		odd[0] += w
		odd[1] += w * u
		odd[2] += w * u * u
	}
	mass := even[0] + odd[0]
	if !(mass > leastMass) {
		f, slope = b.at(b.c, b.center+b.v, b.Targets, b.Row(i))
		return f, slope, 0
	}
	mean := (even[1] + odd[1]) / mass
	variance := (even[2]+odd[2])/mass - mean*mean
	evenMean, oddMean := even[1]/even[0], odd[1]/odd[0]
	apart := max(math.Abs(even[0]-odd[0])/mass, math.Abs(evenMean-oddMean)*math.Sqrt(b.c),
		b.c*math.Abs(even[2]/even[0]-evenMean*evenMean-odd[2]/odd[0]+oddMean*oddMean))
	return b.center + mean, b.c * variance, apart * apart
}

// fill makes the nodes, or finds that they would be too many.
func (b *tablePanel) fill() {
	below, above := b.placeNodes(-1), b.placeNodes(1)
	down, up := len(below.u), len(above.u)
	n := down + up
	if n > maxNodes {
		b.failed = true
		return
	}
	n += n % 2
	b.nodes, b.tilt, b.cached = make([]float64, n), nil, map[float64][]float64{}
	b.nodes[n-1] = above.u[up-1] // of no weight, where the number was odd
	copy(b.nodes[down:], above.u)
	for j, u := range below.u {
		b.nodes[down-1-j] = u
	}
	rows := len(b.P)
	b.powers, b.ends = make([]float64, rows*n), make([][2]int, rows)
	for i := range rows {
		if b.absent[i] {
			continue
		}
		top := max(below.top[i], above.top[i])
		row := b.powers[i*n : (i+1)*n]
		for j := range below.last[i] {
			row[down-1-j] = math.Exp(below.logs[j*rows+i]-top) * below.width[j]
		}
		for j := range above.last[i] {
			row[down+j] = math.Exp(above.logs[j*rows+i]-top) * above.width[j]
		}
		from, to := down-below.last[i], down+above.last[i]
		b.ends[i] = [2]int{from - from%2, to + to%2}
	}
}

// tableHalf is the nodes on one side of the center; the one at 0 is above.
type tableHalf struct {
	u, width []float64
	logs     []float64 // log P_k at the nodes, one row for each node
	top      []float64 // the highest of every combination
	last     []int     // nodes that count for it
}

// placeNodes places nodes outward from the center until every posterior on the
// panel has dropped by its reach below its top.
func (b *tablePanel) placeNodes(sign float64) tableHalf {
	rows := len(b.P)
	w := tableHalf{top: make([]float64, rows), last: make([]int, rows)}
	logs, highest := make([]float64, len(b.Targets)), make([]float64, rows)
	for i := range rows {
		w.top[i], highest[i] = math.Inf(-1), math.Inf(-1)
	}
	start, root := b.nodeDensity(0)
	u, j := 0.0, 0.0
	if sign < 0 {
		j = 1
	}
	for ; len(w.u) <= maxNodes; j++ {
		if j > 0 {
			u += sign * b.step / root
		}
		goal := start + sign*b.step*j
		for range 20 {
			var at float64
			at, root = b.nodeDensity(u)
			if math.Abs(goal-at) <= 1e-12+1e-15*math.Abs(goal) {
				break
			}
			u += (goal - at) / root
		}
		w.u, w.width = append(w.u, u), append(w.width, 1/root)
		for t, y := range b.Targets {
			logs[t] = b.likelihood.logLik(b.center+u, y)
		}
		gain, loss := b.c*b.half*math.Abs(u), 0.5*b.c*u*u
		fallen, least := true, math.Inf(1)
		for i, reach := range b.reach {
			v := -loss
			for t, k := range b.Row(i) {
				if k > 0 {
					v += k * logs[t]
				}
			}
			w.logs = append(w.logs, v)
			if b.absent[i] {
				continue
			}
			w.top[i] = max(w.top[i], v)
			v += gain // at the end of the tablePanel
			highest[i] = max(highest[i], v)
			least = min(least, highest[i]-reach)
			if v > highest[i]-reach {
				fallen = false
				w.last[i] = len(w.u)
			}
		}
		if gain-loss < least || fallen {
			break
		}
	}
	return w
}

// nodeDensity is that of the whole posterior.
func (b *tablePanel) nodeDensity(u float64) (integral, root float64) {
	root = math.Sqrt(b.c)
	integral = root * u
	for j, y := range b.Targets {
		t, r := b.likelihood.nodeDensity(b.center+u, y)
		integral += b.power[j] * t
		root += b.power[j] * r
	}
	return integral, root
}
