package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"bootbench"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/dataset"
	"bootbench/linalg"
)

// world is a law of tables whose truth is known: what is expected of the target of a row.
type world struct {
	name    string
	classes int     // 0: numbers
	noise   float64 // variance of numbers about their expectation, without the groups' variance
	effect  float64 // variance of the effect of a group; 0: no groups
	rows    int     // of a group; 0: four groups of all rows
	student float64 // degrees of freedom of the noise; 0: it is Gaussian
	weight  func(x []float64) float64
	draw    drawFunc
}

// wave is the expectation of the worlds with groups and weights.
func wave(x []float64) []float64 { return []float64{x[0] + math.Sin(2*x[1])} }

// worlds are the generators of the study of coverage.
var worlds = []world{
	{name: "linear", noise: 1,
		draw: rowwise(5, func(x []float64) []float64 { return []float64{x[0] + x[1]/2 + x[2]/4} })},
	// Five of ten uniform inputs matter, and a new sum of 64 cosines of four inputs in each table.
	{name: "friedman1", noise: 1, draw: generated("friedman1", nil)},
	{name: "waves", noise: 0.1, draw: generated("waves", nil)},
	{name: "heavy", noise: 5.0 / 3, student: 5,
		draw: rowwise(3, func(x []float64) []float64 { return []float64{2*math.Sin(x[0]) + x[1]} })},
	{name: "noise", noise: 1, draw: rowwise(3, func([]float64) []float64 { return []float64{0} })},
	{name: "targets", noise: 0.5, draw: rowwise(4, func(x []float64) []float64 {
		return []float64{x[0] + x[1], math.Sin(2*x[0]) + x[2]/2}
	})},
	// Groups of five rows share an effect, in batches their inputs are alike, too, and sites are four groups.
	// New rows have new groups.
	{name: "groups", noise: 0.5, effect: 0.5, rows: 5, draw: rowwise(3, wave)},
	{name: "batches", noise: 0.5, effect: 0.5, rows: batch, draw: batches},
	{name: "sites", noise: 0.5, effect: 0.5, draw: rowwise(3, wave)},
	{name: "weights", noise: 0.5, draw: rowwise(3, wave),
		weight: func(x []float64) float64 { return math.Exp(0.7 * x[0]) }},
	// Two Gaussian classes in the plane, of which the best possible error is 15.9%; one class around the
	// other, with a blurred circle between them; three Gaussian classes, their centres 1.5 from the origin.
	{name: "blobs", classes: 2,
		draw: generated("blobs", func(x []float64) float64 { return math.Sqrt2 * (x[0] + x[1]) })},
	{name: "circle", classes: 2, draw: rowwise(2, func(x []float64) []float64 {
		return binary(4 * (x[0]*x[0] + x[1]*x[1] - 1.4))
	})},
	{name: "coin", classes: 2, draw: rowwise(3, func([]float64) []float64 { return binary(0) })},
	{name: "three", classes: 3, draw: three},
	{name: "rare", classes: 2, // one label in ten is +1
		draw: rowwise(3, func(x []float64) []float64 { return binary(2*x[0] + x[1] - 3.6) })},
}

// drawFunc draws inputs and what is expected there: the mean of each target, or the probability of each
// class.
type drawFunc func(rng *rand.Rand, rows int) (x linalg.Matrix, truth [][]float64)

// rowwise are Gaussian inputs and an expectation that depends on each row alone.
func rowwise(d int, truth func(x []float64) []float64) drawFunc {
	return func(rng *rand.Rand, rows int) (linalg.Matrix, [][]float64) {
		x, all := linalg.NewMatrix(rows, d), make([][]float64, rows)
		for i := range all {
			for j := range d {
				x.Row(i)[j] = rng.NormFloat64()
			}
			all[i] = truth(x.Row(i))
		}
		return x, all
	}
}

// batch is the number of rows of a group whose inputs are alike.
const batch = 5

// batches are inputs about a centre for each group, on which nothing depends.
func batches(rng *rand.Rand, rows int) (linalg.Matrix, [][]float64) {
	x, all := linalg.NewMatrix(rows, 3), make([][]float64, rows)
	for i := range all {
		for j := range x.Row(i) {
			if x.Row(i)[j] = rng.NormFloat64(); i%batch > 0 {
				x.Row(i)[j] = x.Row(i - i%batch)[j] + x.Row(i)[j]/5
			}
		}
		all[i] = []float64{0}
	}
	return x, all
}

// generated are inputs of a synthetic set of the program. Its targets without noise are expected if odds is
// nil, which are the log odds of +1.
func generated(name string, odds func(x []float64) float64) drawFunc {
	return func(rng *rand.Rand, rows int) (linalg.Matrix, [][]float64) {
		all := make([][]float64, rows)
		text := fmt.Sprintf("synthetic:%s,n=%d,seed=%d", name, rows, rng.Uint64())
		if odds == nil {
			text += ",noise=0"
		}
		set := steps.Must(dataset.Load(text, dataset.Options{}))
		for i := range all {
			if odds == nil {
				all[i] = []float64{set.Columns[0].Y[i]}
			} else {
				all[i] = binary(odds(set.X.Row(i)))
			}
		}
		return set.X, all
	}
}

// three are classes of equal probability.
func three(rng *rand.Rand, rows int) (linalg.Matrix, [][]float64) {
	x, all := linalg.NewMatrix(rows, 2), make([][]float64, rows)
	centre := func(class int) (float64, float64) {
		sin, cos := math.Sincos(2 * math.Pi * float64(class) / 3)
		return 1.5 * cos, 1.5 * sin
	}
	for i := range all {
		a, b := centre(rng.IntN(3))
		x.Row(i)[0], x.Row(i)[1] = a+rng.NormFloat64(), b+rng.NormFloat64()
		sum, p := 0.0, make([]float64, 3)
		for class := range p {
			a, b := centre(class)
			p[class] = math.Exp(a*x.Row(i)[0] + b*x.Row(i)[1]) // the centres have one distance from 0
			sum += p[class]
		}
		for class := range p {
			p[class] /= sum
		}
		all[i] = p
	}
	return x, all
}

// binary are the probabilities of -1 and +1.
func binary(odds float64) []float64 {
	p := 1 / (1 + math.Exp(-odds))
	return []float64{1 - p, p}
}

// sample is a table and further rows of its world with their truth.
type sample struct {
	world
	data, fresh *bootbench.Data
	truth       [][]float64 // of the fresh rows
}

// table draws a table of n rows, and fresh rows: of groups a new one each.
func (w world) table(seed uint64, n, fresh int) *sample {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	x, truth := w.draw(rng, n+fresh)
	part := func(from, to, rows int) *bootbench.Data {
		return w.realized(rng, linalg.Matrix{Rows: to - from, Cols: x.Cols, Stride: x.Stride,
			Data: x.Data[from*x.Stride : to*x.Stride]}, truth[from:to], rows)
	}
	return &sample{world: w, data: part(0, n, w.rows), fresh: part(n, n+fresh, 1), truth: truth[n:]}
}

// realized has random targets with given expectations, in groups of so many rows, 0 for four groups.
func (w world) realized(rng *rand.Rand, x linalg.Matrix, truth [][]float64, rows int) *bootbench.Data {
	n, columns := x.Rows, len(truth[0])
	if w.classes > 0 {
		columns = 1
	}
	y := make([][]float64, columns)
	var groups []int
	effect := 0.0
	for i, expected := range truth {
		if group := i * 4 / n; w.effect > 0 {
			if rows > 0 {
				group = i / rows
			}
			if i == 0 || group != groups[i-1] {
				effect = math.Sqrt(w.effect) * rng.NormFloat64()
			}
			groups = append(groups, group)
		}
		for k := range y {
			if w.classes > 0 {
				y[k] = append(y[k], w.label(drawn(rng, expected)))
			} else {
				y[k] = append(y[k], expected[k]+effect+math.Sqrt(w.noise)*w.deviate(rng))
			}
		}
	}
	set := steps.Must(bootbench.New(x, y[0]))
	for k := range y[1:] {
		set.Columns = append(set.Columns, bootbench.Column{Name: fmt.Sprintf("y%d", k+2), Y: y[k+1]})
	}
	if set.Groups = groups; w.classes > 2 {
		steps.Check(set.Classify(""))
	}
	if w.weight != nil {
		for i := range n {
			set.Weights = append(set.Weights, w.weight(x.Row(i)))
		}
	}
	return set
}

// deviate is random noise of variance 1.
func (w world) deviate(rng *rand.Rand) float64 {
	if w.student == 0 {
		return rng.NormFloat64()
	}
	chi := 0.0
	for range int(w.student) {
		chi += math.Pow(rng.NormFloat64(), 2)
	}
	return rng.NormFloat64() * math.Sqrt((w.student-2)/chi)
}

// label is the number of a class in a table.
func (w world) label(class int) float64 {
	if w.classes == 2 {
		return float64(2*class - 1)
	}
	return float64(class)
}

// drawn is a random class.
func drawn(rng *rand.Rand, p []float64) (class int) {
	for at := rng.Float64() - p[0]; at >= 0 && class < len(p)-1; at -= p[class] {
		class++
	}
	return class
}

// risk is the expected error of a trained model on fresh rows, in units of Estimation.Error: the expectation
// over targets is exact, only the inputs are random.
func (s *sample) risk(model *bootbench.Trained) float64 {
	p := steps.Must(model.Predict(s.fresh, 0.95))
	if s.classes > 0 {
		wrong, levels := make([]float64, len(s.truth)), map[string]int{}
		for class, name := range s.data.Columns[0].Levels {
			levels[name] = class
		}
		for i, name := range p.Class {
			wrong[i] = 1 - s.truth[i][levels[name]]
		}
		return stat.Mean(wrong, s.fresh.Weights)
	}
	mean := func(p *bootbench.Prediction, k int) float64 {
		off := make([]float64, len(s.truth))
		for i, f := range p.Mean {
			off[i] = (f - s.truth[i][k]) * (f - s.truth[i][k])
		}
		return stat.Mean(off, s.fresh.Weights) + s.noise + s.effect
	}
	if p.Targets == nil {
		return mean(p, 0)
	}
	share := 0.0 // of the variance of the rows of the table
	for k, c := range s.data.Columns {
		share += mean(p.Targets[c.Name], k) / stat.PopVariance(c.Y, s.data.Weights) /
			float64(len(s.data.Columns))
	}
	return share
}
