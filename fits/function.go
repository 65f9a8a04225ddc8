package fits

// Function is a function f = K a (+ bias) that is trained: a prediction is Mean + Unit f.
type Function struct {
	Name       string
	Y          []float64 // targets in the unit of the fit, length N
	Rows       []float64 // nil: all rows; else 0 or 1: the rows that it is trained on
	Mean, Unit float64
}
