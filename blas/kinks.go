package blas

// KinkRow is one of several maps of a standard normal x, all bent at one place z and of weight P in an
// average:
//
//	f(x) = b (x-hi)+ - a (lo-x)+,   lo = z + Below scale,   hi = z + Above scale,
//
// Below <= 0 <= Above, with slopes a = c/(c+CurvedBelow) and b = c/(c+CurvedAbove). What lies below
// lo < -(Reach^2+min(z,0)^2)^1/2, or above hi > (Reach^2+max(z,0)^2)^1/2, is left out. Reach is finite.
type KinkRow struct {
	P, Below, Above, CurvedBelow, CurvedAbove, Reach float64
}

// MaxKinkLanes is the number of places in a KinkLanes.
const MaxKinkLanes = 64

// KinkLanes are many places, with averages over x and the rows: of f and its square, of its slope and of one
// less that; and for slopes a = b = 1 derivatives of the first three. Those by z that are missing are -Keep
// and -2 First.
type KinkLanes struct {
	Z, Scale, C                 [MaxKinkLanes]float64
	First, Second, Keep, Pull   [MaxKinkLanes]float64
	FirstByScale, SecondByScale [MaxKinkLanes]float64
	KeepByZ, KeepByScale        [MaxKinkLanes]float64
}

// kinkAverager is a backend that has vector kernels on this processor.
type kinkAverager interface {
	smallSetWidth() int
	smallKinks(number int, rows []KinkRow, l *KinkLanes)
}

// HasKinks reports whether KinkLanes can be averaged here.
func HasKinks() bool {
	k, ok := bound.(kinkAverager)
	return ok && k.smallSetWidth() > 0
}

// Average computes the averages at the first places, which must be finite, as must be their scales, above 0.
func (l *KinkLanes) Average(number int, rows []KinkRow) {
	if number > 0 && len(rows) > 0 {
		bound.(kinkAverager).smallKinks(number, rows, l)
	}
}
