package report

import (
	"math"
	"strconv"
)

// scale maps the values of an axis to pixels.
type scale struct {
	Axis
	from, to float64 // pixels of Min and Max
}

// fitted is an axis with its limits and ticks. Values lie between low and high; room is how much of their
// range stays free above them.
func (a Axis) fitted(low, high, room float64) Axis {
	if low > high { // nothing is drawn
		low, high = 1, 10
	}
	fixed := a.Min < a.Max
	if fixed {
		low, high = a.Min, a.Max
	}
	switch {
	case a.Log && (fixed || a.Ticks != nil):
		const margin = 1.12
		low, high = low/margin, high*margin
	case a.Log: // whole decades, and the room above them
		first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		last = max(last, first+1)
		low, high = math.Pow(10, first), math.Pow(10, last+room*(last-first))
	case !fixed:
		margin := 0.03 * (high - low)
		if margin == 0 {
			margin = 1
		}
		if low != 0 {
			low -= margin
		}
		high += margin + room*(high-low)
	}
	a.Min, a.Max = low, high
	switch {
	case a.Ticks != nil:
	case a.Log:
		a.Ticks = decadeTicks(low, high)
	default:
		a.Ticks = roundTicks(low, high)
	}
	return a
}

// at is the pixel of a value.
func (s scale) at(v float64) float64 {
	low, high := s.Min, s.Max
	if s.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// draws reports whether the axis has a place for a value.
func (a *Axis) draws(v float64) bool { return v-v == 0 && (v > 0 || !a.Log) }

// roundTicks marks multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) (ticks []Tick) {
	const most = 7
	step := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(factor*step) <= most {
			step *= factor
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high*(1+1e-12); i++ {
		ticks = append(ticks, Tick{i * step, strconv.FormatFloat(i*step+0, 'g', 6, 64)})
	}
	return ticks
}

// decadeTicks marks powers of ten, with 2 and 5 times these where there are few, and round
// numbers within one decade: no axis is without labels.
func decadeTicks(low, high float64) (ticks []Tick) {
	decades := math.Log10(high / low)
	if decades < 1 {
		return roundTicks(low, high)
	}
	for power := math.Floor(math.Log10(low)); math.Pow(10, power) <= high; power++ {
		for factor := 1.0; factor < 10; factor++ {
			tick := Tick{Value: factor * math.Pow(10, power)}
			if factor == 1 || decades < 3 && (factor == 2 || factor == 5) {
				tick.Label = strconv.FormatFloat(tick.Value, 'g', 3, 64)
			}
			if tick.Value >= low*(1-1e-9) && tick.Value <= high*(1+1e-9) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}
