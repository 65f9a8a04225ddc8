package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
)

// fineBin is the width of the bins that predictions are counted in; wider bins
// are made of them.
const fineBin = 0.1

// Reference is what retraining gives at one ratio.
type Reference struct {
	Resamples int
	Error, SE []float64 // left-out error of each test loss, and its standard error
	Mean, Var []float64 // over resamples, at the sites and then at the new inputs
	MeanSE    []float64
	VarSE     []float64
	blocks    []block
	negative  []float64 // share of the resamples that predict below 0, at the same places
}

// block is the average over blockSize resamples.
type block struct {
	Error, SE, Mean, Var, MeanSE, VarSE, Negative []float64 // Negative counts resamples
	// per place: resamples by number of the fine bin
	Bins []map[int32]int32
}

// experiment is what is retrained.
type experiment struct {
	model  *model.Model
	scheme resample.Scheme
	tests  []loss.Test
	cross  blas64.General // kernel rows of new inputs
	bins   bool           // count predictions in bins
}

// retrain draws at least the given number of resamples in whole blocks.
func (r *run) retrain(x *experiment, part string, resamples int) (*Reference, error) {
	ref := &Reference{blocks: make([]block, (resamples+blockSize-1)/blockSize)}
	for number := range ref.blocks {
		if err := r.draw(&ref.blocks[number], x, part, number, len(ref.blocks)); err != nil {
			return nil, err
		}
	}
	ref.average()
	return ref, nil
}

// draw is a block of retrainings.
func (r *run) draw(b *block, x *experiment, part string, number, count int) error {
	settings := retrain.Settings{
		Resamples: blockSize, Workers: r.Workers, Tests: x.tests,
		Progress: func(done, _ int) { r.tell(part, number*blockSize+done, count*blockSize) },
		OnFit:    func(_ int, _, f []float64) { b.observe(f, x.bins) },
	}
	// The streams of different seeds are independent; those of neighbouring
	// blocks must not be those of a neighbouring Seed.
	seed := r.Seed ^ (uint64(number)+1)*0x9e3779b97f4a7c15
	result, err := x.model.Retrain(r.ctx, x.scheme,
		model.RetrainSettings{Settings: settings, Seed: seed, Cross: x.cross})
	if err != nil {
		return fmt.Errorf("%s: %w", part, err)
	}
	if result.Status != retrain.Complete {
		return r.ctx.Err()
	}
	b.Mean, b.Var, b.MeanSE, b.VarSE = result.Mean, result.Var, result.MeanSE, result.VarSE
	for _, e := range result.LeftOut {
		b.Error, b.SE = append(b.Error, e.Error), append(b.SE, e.SE)
	}
	return nil
}

// observe counts the predictions of one resample.
func (b *block) observe(f []float64, bins bool) {
	if b.Negative == nil {
		b.Negative = make([]float64, len(f))
		b.Bins = make([]map[int32]int32, len(f))
	}
	for i, v := range f {
		if v < 0 {
			b.Negative[i]++
		}
		if !bins {
			continue
		}
		if b.Bins[i] == nil {
			b.Bins[i] = map[int32]int32{}
		}
		b.Bins[i][int32(math.Floor(v/fineBin))]++
	}
}

// average combines the blocks, which have equal weight and are independent: the
// mean of their unbiased variances is unbiased, and errors add as squares.
func (ref *Reference) average() {
	ref.Resamples = len(ref.blocks) * blockSize
	mean := func(of func(*block) []float64) []float64 {
		out := make([]float64, len(of(&ref.blocks[0])))
		for i := range ref.blocks {
			for j, v := range of(&ref.blocks[i]) {
				out[j] += v / float64(len(ref.blocks))
			}
		}
		return out
	}
	error := func(of func(*block) []float64) []float64 {
		out := make([]float64, len(of(&ref.blocks[0])))
		for i := range ref.blocks {
			for j, v := range of(&ref.blocks[i]) {
				out[j] += v * v
			}
		}
		for j := range out {
			out[j] = math.Sqrt(out[j]) / float64(len(ref.blocks))
		}
		return out
	}
	ref.Error, ref.SE = mean(func(b *block) []float64 { return b.Error }),
		error(func(b *block) []float64 { return b.SE })
	ref.Mean, ref.MeanSE = mean(func(b *block) []float64 { return b.Mean }),
		error(func(b *block) []float64 { return b.MeanSE })
	ref.Var, ref.VarSE = mean(func(b *block) []float64 { return b.Var }),
		error(func(b *block) []float64 { return b.VarSE })
	ref.negative = mean(func(b *block) []float64 { return b.Negative })
	for i := range ref.negative {
		ref.negative[i] /= blockSize
	}
}

// histogram is the share of the resamples in bins of the given width, a
// multiple of fineBin: bin i begins at (first+i) width + offset, with offset a
// multiple of fineBin too. The blocks of jackknife group leave do not
// count; -1: all do.
func (ref *Reference) histogram(place int, width, offset float64, leave int) (first int, shares []float64) {
	per, shift := int(math.Round(width/fineBin)), int(math.Round(offset/fineBin))
	counts, total := map[int]float64{}, 0.0
	low, high := math.MaxInt, math.MinInt
	for number := range ref.blocks {
		if leave >= 0 && number%jackknifeGroups == leave {
			continue
		}
		for fine, n := range ref.blocks[number].Bins[place] {
			wide := floorDiv(int(fine)-shift, per)
			counts[wide] += float64(n)
			total += float64(n)
			low, high = min(low, wide), max(high, wide)
		}
	}
	if total == 0 {
		return 0, nil
	}
	shares = make([]float64, high-low+1)
	for wide, n := range counts {
		shares[wide-low] = n / total
	}
	return low, shares
}

// floorDiv rounds down, also below zero.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
