package linalg

import (
	"fmt"
	"sort"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Sites that an update moves at a time. Every rank holds as many columns of G
// meanwhile: an eighth of its part, but for many ranks and few sites.
const (
	leastBatch = 16
	mostBatch  = 128
)

func updateBatch(n, ranks int) int {
	return max(leastBatch, min(mostBatch, n/(8*ranks)))
}

// RankUpdate moves d by delta, rank 0's, at the listed sites (M03-65), as Exact does,
// batch of sites after batch. Rank 0 solves the small system.
func (e *DistributedEngine) RankUpdate(sites []int, delta []float64) error {
	e.FormG()
	meet(e.k.grid, fmt.Sprintf("update of %d sites", len(sites)), 0)
	delta = append([]float64(nil), delta...)
	e.k.grid.Broadcast(delta, 0)
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
func (e *DistributedEngine) updateGroup(sites []int, delta []float64, sign float64) error {
	w, k := &e.update, e.k
	if !w.choose(e.sites.d, sites, delta, sign) {
		return nil
	}
	e.gatherColumns()
	failed := int64(0)
	if k.grid.Rank() == 0 && !w.solve(k.n, sign) {
		failed = 1
	}
	if meet(k.grid, "update solved", failed) != 0 {
		return ErrUpdate
	}
	k.grid.Broadcast(w.u, 0)
	if !w.diagonals(e.sites.d, e.sites.chi, e.sites.b, sign) {
		return ErrUpdate
	}
	e.addProduct(-sign)
	e.sites.accept(w)
	return nil
}

// gatherColumns fills U = G_J |delta|^1/2 on rank 0.
func (e *DistributedEngine) gatherColumns() {
	w, k := &e.update, e.k
	a := len(w.sites)
	w.u = resize(w.u, k.n*a)
	clear(w.u)
	for c, site := range w.sites {
		k.symmetricColumn(w.u[c:], a, site, w.magnitude[c])
	}
	k.grid.Reduce(w.u)
	for c, site := range w.sites {
		w.u[site*a+c] = e.sites.chi[site] * w.magnitude[c]
	}
}

// addProduct adds alpha U U' to the part, which stays zero from the diagonal up.
func (e *DistributedEngine) addProduct(alpha float64) {
	w, k := &e.update, e.k
	a := len(w.sites)
	ofRows, ofCols := rowsOfSites(w.u, a, k.rows), rowsOfSites(w.u, a, k.cols)
	k.eachStrip(func(c0, r0 int, strip blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, alpha, rowsOf(ofCols, c0, c0+strip.Rows), rowsOf(ofRows, r0, ofRows.Rows), 1, strip)
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

// position is where v stands in an ascending list.
func position(list []int, v int) (at int, ok bool) {
	at = sort.SearchInts(list, v)
	return at, at < len(list) && list[at] == v
}

// InputDim is N: a new input is described by its kernel with every site.
func (e *DistributedEngine) InputDim() int { return e.k.n }

// Predictor reads off kernel vectors. Predict is for all ranks to call together,
// with the same rows.
func (e *DistributedEngine) Predictor(weights, scatter []float64) Predictor {
	return &distributedPredictor{e, weights, scatter}
}

type distributedPredictor struct {
	engine           *DistributedEngine
	weights, scatter []float64
}

// Predict multiplies on every rank and finishes on rank 0, see Exact.Respond.
func (p *distributedPredictor) Predict(rows, mean, variance []float64) {
	e := p.engine
	n, count := e.k.n, len(mean)
	e.mustBeExpanded("predict")
	weighted, product := make([]float64, len(rows)), make([]float64, len(rows))
	for r := range count {
		for i, k := range rows[r*n : (r+1)*n] {
			weighted[r*n+i] = e.sites.d[i] * k
		}
	}
	e.multiply(product, weighted, count)
	e.k.grid.Reduce(product)
	if e.k.grid.Rank() == 0 {
		for r := range count {
			mean[r], variance[r] = 0, 0
			for i, k := range rows[r*n : (r+1)*n] {
				response := e.sites.b[i]*k - product[r*n+i]
				mean[r] += k * p.weights[i]
				variance[r] += response * response * p.scatter[i]
			}
		}
	}
	e.k.grid.Broadcast(mean, 0)
	e.k.grid.Broadcast(variance, 0)
}
