package loss

// Proximal is a convex loss known by its value and by its proximal map: all that
// the theory (T4) and a trainer (T1) ask of a loss.
type Proximal interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y); +Inf where f is barred.
	Value(f, y float64) float64
	// Prox is the proximal map of several examples at one input (T3),
	//
	//	f = argmin c/2 (f-h)^2 + sum_j k_j l(f, y_j),
	//
	// and its slope df/dh in [0, 1]. c > 0; weights k_j >= 0, one for each of the
	// targets y. Without weight f = h and the slope is 1.
	Prox(c, h float64, y, k []float64) (f, slope float64)
}
