package dist

import (
	"sort"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/internal/core"
)

// Sites that an update moves at a time. Every rank holds as many columns of G
// meanwhile: an eighth of its part, but for many ranks and few sites.
const (
	minBatch = 16
	maxBatch = 128
)

func updateBatch(n, ranks int) int {
	return max(minBatch, min(maxBatch, n/(8*ranks)))
}

// RankUpdate moves d by delta at the listed sites (M03-65), as linalg.CholeskyEngine does,
// batch of sites after batch. Rank 0 solves the small system.
func (e *Engine) RankUpdate(sites []int, delta []float64) (err error) {
	e.FormG()
	e.k.together(order{Op: opUpdate, Ints: sites}, delta, func() { err = e.rankUpdate(sites, delta) })
	return err
}

func (e *Engine) rankUpdate(sites []int, delta []float64) error {
	batch := updateBatch(e.k.n, e.k.grid.Size())
	for _, sign := range []float64{1, -1} {
		for first := 0; first < len(sites); first += batch {
			last := min(first+batch, len(sites))
			if err := e.updateGroup(sites[first:last], delta[first:last], sign); err != nil {
				return err
			}
		}
	}
	return nil
}

// updateGroup moves the sites whose delta has the given sign.
func (e *Engine) updateGroup(sites []int, delta []float64, sign float64) error {
	w, k := &e.update, e.k
	if !w.Choose(e.sites.D, sites, delta, sign) {
		return nil
	}
	e.gatherColumns()
	failed := int64(0)
	if k.grid.Rank() == 0 && !w.Solve(k.n, sign) {
		failed = 1
	}
	if k.grid.Most(failed) != 0 {
		return linalg.ErrUpdate
	}
	k.grid.Broadcast(w.U, 0)
	if !w.Diagonals(e.sites.D, e.sites.Chi, e.sites.B, sign) {
		return linalg.ErrUpdate
	}
	e.addProduct(-sign)
	e.sites.Accept(w)
	return nil
}

// gatherColumns fills U = G_J |delta|^1/2 on rank 0.
func (e *Engine) gatherColumns() {
	w, k := &e.update, e.k
	a := len(w.Sites)
	w.Reserve(&core.Plan{}, k.n, a)
	w.U = w.U[:k.n*a]
	clear(w.U)
	for c, site := range w.Sites {
		k.symmetricColumn(w.U[c:], a, site, w.Magnitude[c])
	}
	k.grid.Reduce(w.U)
	for c, site := range w.Sites {
		w.U[site*a+c] = e.sites.Chi[site] * w.Magnitude[c]
	}
}

// addProduct adds alpha U U' to the part, which stays zero from the diagonal up.
func (e *Engine) addProduct(alpha float64) {
	w, k := &e.update, e.k
	a := len(w.Sites)
	ofRows, ofCols := rowsOfSites(w.U, a, k.rows), rowsOfSites(w.U, a, k.cols)
	k.eachStrip(func(c0, r0 int, strip blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, alpha, core.Rows(ofCols, c0, c0+strip.Rows),
			core.Rows(ofRows, r0, ofRows.Rows), 1, strip)
		for c := c0; c < c0+strip.Rows; c++ {
			clear(k.column(c)[r0:k.below[c]])
		}
	})
}

// rowsOfSites copies the listed rows of a matrix with the given number of columns.
func rowsOfSites(u []float64, cols int, sites []int) blas64.General {
	some := blas64.General{Rows: len(sites), Cols: cols, Stride: cols, Data: make([]float64, len(sites)*cols)}
	for p, i := range sites {
		copy(some.Data[p*cols:(p+1)*cols], u[i*cols:])
	}
	return some
}

// position is the index of v in an ascending list.
func position(list []int, v int) (at int, ok bool) {
	at = sort.SearchInts(list, v)
	return at, at < len(list) && list[at] == v
}

// InputDim is N: a new input is described by its kernel with every site.
func (e *Engine) InputDim() int { return e.k.n }

// Predictor reads off kernel vectors.
func (e *Engine) Predictor(field, scatter []float64) linalg.Predictor {
	return &distributedPredictor{e, field, scatter}
}

type distributedPredictor struct {
	engine         *Engine
	field, scatter []float64
}

// Predict is that of linalg.CholeskyEngine.
func (p *distributedPredictor) Predict(rows, mean, variance []float64) {
	e := p.engine
	n, count := e.k.n, len(mean)
	weighted, product := make([]float64, len(rows)), make([]float64, len(rows))
	for r := range count {
		for i, k := range rows[r*n : (r+1)*n] {
			weighted[r*n+i] = e.sites.D[i] * k
		}
	}
	e.multiplyAll(product, weighted, count)
	for r := range count {
		mean[r], variance[r] = 0, 0
		for i, k := range rows[r*n : (r+1)*n] {
			response := e.sites.B[i]*k - product[r*n+i]
			mean[r] += response * p.field[i]
			variance[r] += response * response * p.scatter[i]
		}
	}
}
