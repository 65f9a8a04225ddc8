package bootbench_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"bootbench"
)

const houses = `area,age,price
50,30,150
65,12,230
80,40,205
80,40,215
95,5,360
110,22,330
120,8,410
140,35,370
`

// must ends an example whose call fails.
func must[V any](value V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// table is data from a reader instead of a file.
func table(text string) *bootbench.Data {
	return must(bootbench.Load("-", bootbench.ReadOptions{Stdin: strings.NewReader(text)}))
}

// The Boston housing data with the model that comes with them: by how much models that were trained on a
// resample err on the examples that it lacks, without training one, and with 200 that are trained exactly.
// The error of the model of all rows has an interval.
func Example() {
	ctx := context.Background()
	data := must(bootbench.Load("boston", bootbench.ReadOptions{}))
	spec := must(bootbench.Choose(ctx, data))
	e := must(bootbench.Estimate(ctx, spec, bootbench.Options{}))
	fmt.Printf("square error: theory %.2f, exact %.1f\n", e.Theory.LeftOut, e.LeftOut)
	fmt.Printf("of the model of all rows: %.1f, between %.1f and %.1f\n", e.Error, e.ErrorLower, e.ErrorUpper)
	fmt.Printf("first house: price %.1f, prediction %.1f, which varies by %.1f\n", data.Targets(0)[0],
		e.Mean[0], e.SD[0])
	// Output:
	// square error: theory 16.25, exact 17.1
	// of the model of all rows: 11.7, between 9.1 and 15.1
	// first house: price 24.0, prediction 25.3, which varies by 1.6
}

// A model of one's own: a smooth function of size 100 around the mean price, and noise of 15.
func ExamplePredict() {
	data := table(houses)
	spec := bootbench.NewSpec(data, bootbench.Square{Noise: 15 * 15})
	spec.Kernel = bootbench.Kernel{LengthScale: []float64{2}, Amplitude: 100 * 100}
	wanted := must(bootbench.NewInputs(mat.NewDense(2, 2, []float64{100, 10, 60, 60})))
	p := must(bootbench.Predict(context.Background(), spec, wanted, bootbench.Options{Level: 0.8}))
	for i := range p.Mean {
		fmt.Printf("price %.0f, over resamples +- %.0f, a house between %.0f and %.0f\n", p.Mean[i], p.SD[i],
			p.Lower[i], p.Upper[i])
	}
	// Output:
	// price 351, over resamples +- 13, a house between 333 and 369
	// price 225, over resamples +- 13, a house between 170 and 270
}

// A trained model is written and read by a program that has no training data.
func ExampleTrain() {
	trained := must(bootbench.Train(context.Background(), bootbench.NewSpec(table(houses),
		bootbench.Square{Noise: 100})))
	var file bytes.Buffer
	if err := trained.Write(&file); err != nil {
		log.Fatal(err)
	}
	p := must(bootbench.ReadModel(&file))
	inputs := must(bootbench.NewInputs(mat.NewDense(1, 2, []float64{70, 20})))
	prices := must(p.Predict(inputs, 0.7))
	fmt.Printf("70 square metres, 20 years: %.0f, between %.0f and %.0f\n", prices.Mean[0], prices.Lower[0],
		prices.Upper[0])
	// Output:
	// 70 square metres, 20 years: 200, between 185 and 229
}

// The honest way: 100 models, each trained on a resample of its own, and ten-fold cross-validation.
func ExampleRetrain() {
	ctx := context.Background()
	data := must(bootbench.Load("sonar", bootbench.ReadOptions{}))
	spec := bootbench.NewSpec(data, bootbench.Hinge{C: 1})
	r := must(bootbench.Retrain(ctx, spec, bootbench.Options{Resamples: 100}))
	folds := bootbench.Folds{Folds: 10, Repeats: 2}
	cv := must(bootbench.CrossValidate(ctx, spec, folds, bootbench.Options{}))
	fmt.Printf("wrong labels: bootstrap %.2f, cross-validation %.2f\n", r.Error, cv.Error)
	// Output:
	// wrong labels: bootstrap 0.20, cross-validation 0.19
}

// Hyperparameters by the gradient of the left-out error.
func ExampleTune() {
	data := must(bootbench.Load("synthetic:friedman1,n=80", bootbench.ReadOptions{}))
	spec := bootbench.NewSpec(data, bootbench.Square{Noise: 1})
	best := must(bootbench.Tune(context.Background(), spec, "gamma"))
	fmt.Printf("gamma %.2g\n", best.Kernel.Gamma)
	// Output:
	// gamma 0.046
}

// Wrong labels that cost unequally: a model is chosen by the mean cost of a row, and judged by it.
func ExampleMeasure() {
	ctx := context.Background()
	data := must(bootbench.Load("synthetic:blobs,n=60", bootbench.ReadOptions{}))
	spec := bootbench.NewSpec(data, nil)
	spec.Measure = bootbench.Measure{Name: "cost", Negative: 1, Positive: 4}
	spec = must(bootbench.Tune(ctx, spec))
	e := must(bootbench.Estimate(ctx, spec, bootbench.Options{}))
	cost := e.Measured
	fmt.Printf("a new row costs %.2f (%.2f to %.2f); +1 from a probability of %.2f on\n", cost.Value,
		cost.Lower, cost.Upper, e.Threshold)
	// Output:
	// a new row costs 0.38 (0.18 to 0.79); +1 from a probability of 0.20 on
}

// Which columns matter: how much higher the error is without each, with 95% intervals.
func ExampleColumns() {
	data := must(bootbench.Load("synthetic:friedman1,n=60,d=6", bootbench.ReadOptions{}))
	spec := bootbench.NewSpec(data, bootbench.Square{Noise: 1})
	e := must(bootbench.Columns(context.Background(), spec, bootbench.Options{}))
	for _, c := range e.Columns {
		fmt.Printf("%s: %.1f (%.1f to %.1f), permuted %.1f\n", c.Column, c.Without.Value, c.Without.Lower,
			c.Without.Upper, c.Permuted.Value)
	}
	// Output:
	// x4: 8.3 (1.3 to 15.4), permuted 10.5
	// x1: 8.1 (3.7 to 12.5), permuted 9.1
	// x2: 4.7 (0.4 to 9.0), permuted 6.8
	// x5: 1.8 (-2.1 to 5.7), permuted 3.3
	// x3: 0.8 (-1.2 to 2.7), permuted 0.9
	// x6: 0.0 (-1.5 to 1.5), permuted 1.1
}

// The classes that the labels of new rows are among in nine of ten cases.
func ExamplePredict_sets() {
	data := must(bootbench.Load("iris", bootbench.ReadOptions{}))
	new := must(bootbench.NewInputs(mat.NewDense(3, 4, []float64{
		5, 3.4, 1.5, 0.2, 6.2, 2.8, 4.9, 1.7, 7.2, 3.2, 6, 2.2})))
	spec := bootbench.NewSpec(data, bootbench.Hinge{C: 1})
	p := must(bootbench.Predict(context.Background(), spec, new, bootbench.Options{Level: 0.98, Sets: true}))
	fmt.Println(p.Sets)
	// Output:
	// [[setosa] [versicolor virginica] [virginica]]
}

// Rows that are added to a regression, and predictions without some of them, by one inverse.
func ExampleInvert() {
	ctx := context.Background()
	data := must(bootbench.Load("synthetic:friedman1,n=100", bootbench.ReadOptions{}))
	more := must(bootbench.Load("synthetic:friedman1,n=5,seed=2", bootbench.ReadOptions{}))
	inverse := must(bootbench.Invert(ctx, bootbench.NewSpec(data, bootbench.Square{Noise: 1})))
	if err := inverse.Append(ctx, more); err != nil {
		log.Fatal(err)
	}
	left := must(inverse.LeaveOut(100))
	fmt.Printf("the first of %d new rows is %.1f, predicted %.1f by the others\n", inverse.N()-100,
		more.Targets(0)[0], left[0])
	// Output:
	// the first of 5 new rows is 5.4, predicted 7.5 by the others
}

// Several classes: how often new rows get the wrong one, and the class of new rows.
func ExampleEstimate_classes() {
	ctx := context.Background()
	data := must(bootbench.Load("iris", bootbench.ReadOptions{}))
	spec := bootbench.NewSpec(data, bootbench.Hinge{C: 10})
	e := must(bootbench.Estimate(ctx, spec, bootbench.Options{}))
	folds := bootbench.Folds{Folds: 10, Repeats: 2}
	cv := must(bootbench.CrossValidate(ctx, spec, folds, bootbench.Options{}))
	trained := must(bootbench.Train(context.Background(), spec))
	new := must(bootbench.NewInputs(mat.NewDense(1, 4, []float64{5, 3.4, 1.5, 0.2})))
	p := must(trained.Predict(new, 0.95))
	fmt.Printf("%.0f%% get the wrong class of %d, %.0f%% by cross-validation; a new row is %s, among %s\n",
		100*e.Error, len(e.Classes), 100*cv.Error, p.Class[0], p.Sets[0])
	// Output:
	// 4% get the wrong class of 3, 3% by cross-validation; a new row is setosa, among [setosa]
}

// Several targets: two columns of one file, by one model of all examples.
func ExampleEstimate_targets() {
	const file = "a,b,x\n1,0,0\n2,1,1\n3,2,2\n4,3,3\n5,3,4\n6,3,5\n7,2,6\n8,1,7\n"
	data := must(bootbench.Load("-", bootbench.ReadOptions{Stdin: strings.NewReader(file), Target: "a,b"}))
	spec := bootbench.NewSpec(data, bootbench.Square{Noise: 0.1})
	e := must(bootbench.Estimate(context.Background(), spec, bootbench.Options{}))
	for _, name := range []string{"a", "b"} {
		fmt.Printf("%s: %.0f%% of the variance is not explained\n", name, 100*e.Targets[name].Error/
			e.Targets[name].Baseline)
	}
	// Output:
	// a: 2% of the variance is not explained
	// b: 4% of the variance is not explained
}

// Rows of one patient are alike: where a column names the patients, whole ones are drawn and left out, and
// the error is that for new patients, not for new rows of old ones. The p-value says whether anything was
// learned that helps there.
func ExampleCrossValidate_groups() {
	file := "patient,x,y\n"
	for row := range 60 {
		patient, visit := row/5, float64(row%5)
		file += fmt.Sprintf("p%d,%.2f,%.2f\n", patient, float64(patient%4)+0.1*visit,
			float64(patient*patient%7)+0.2*visit)
	}
	ctx := context.Background()
	for _, o := range []bootbench.ReadOptions{{Drop: []string{"patient"}}, {Groups: "patient"}} {
		o.Stdin = strings.NewReader(file)
		data := must(bootbench.Load("-", o))
		spec := bootbench.NewSpec(data, bootbench.Square{Noise: 0.5})
		e := must(bootbench.Estimate(ctx, spec, bootbench.Options{}))
		folds := bootbench.Folds{Folds: 6, Permutations: 19}
		cv := must(bootbench.CrossValidate(ctx, spec, folds, bootbench.Options{}))
		fmt.Printf("patients known: %v; square error %.1f, by cross-validation %.1f, p = %.2f\n",
			data.Groups != nil, e.Error, cv.Error, cv.PValue)
	}
	// Output:
	// patients known: false; square error 1.6, by cross-validation 1.5, p = 0.05
	// patients known: true; square error 2.7, by cross-validation 3.3, p = 0.55
}
