package linalg

// Predictor reads averages at new inputs off an engine and two vectors over the
// sites. It is valid until the engine's next Refresh or Update.
type Predictor interface {
	// Predict writes, for P new inputs described by rows (P x Width of the engine,
	// row-major, overwritten), the mean k(x)'weights and the variance
	// sum_j (k(x)'(I + diag(d)K)^-1)_j^2 scatter_j (M03-48).
	Predict(rows, mean, variance []float64)
}

// InputDim is N: a new input is described by its kernel with every site.
func (e *CholeskyEngine) InputDim() int { return e.N() }

// Predictor reads off kernel vectors.
func (e *CholeskyEngine) Predictor(weights, scatter []float64) Predictor {
	return &exactPredictor{e, weights, scatter}
}

type exactPredictor struct {
	engine           *CholeskyEngine
	weights, scatter []float64
}

// Predict responds to every row by itself, in O(N^2).
func (p *exactPredictor) Predict(rows, mean, variance []float64) {
	n := len(p.weights)
	for i := range mean {
		mean[i] = 0
		for j, k := range rows[i*n : (i+1)*n] {
			mean[i] += k * p.weights[j]
		}
	}
	p.engine.SolveRows(rows)
	for i := range variance {
		variance[i] = 0
		for j, t := range rows[i*n : (i+1)*n] {
			variance[i] += t * t * p.scatter[j]
		}
	}
}
