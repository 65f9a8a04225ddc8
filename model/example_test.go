package model_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
)

// The Boston housing data with the model that comes with them: what all
// bootstrap resamples give on average, without drawing one.
func Example() {
	set, err := dataset.Open("boston")
	if err != nil {
		log.Fatal(err)
	}
	preset, _ := model.PresetFor(set)
	m, err := model.Build(model.Spec{
		Set: set, Kernel: preset.Kernel, Loss: preset.Loss, Standardize: preset.Standardize,
	})
	if err != nil {
		log.Fatal(err)
	}

	// Resamples of as many examples as there are, drawn with replacement.
	bootstrap := resample.Poisson{Ratio: 1}
	solution, err := m.Solve(context.Background(), bootstrap, solver.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("status:", solution.Status)

	// The mean over examples of the loss in those resamples that leave them out.
	leftOut, _ := solution.LeftOut(loss.SquareTest{})
	fmt.Printf("left-out square error: %.2f\n", leftOut)

	// How the prediction at the first example varies from resample to resample.
	first := m.Site[0]
	fmt.Printf("first example: target %.1f, mean %.1f, sd %.1f\n",
		set.Y[0], solution.Mean[first], math.Sqrt(solution.Var[first]))

	// The same at a new input: the first example with one room more.
	house := mat.NewDense(1, set.D(), slices.Clone(set.X.Row(0)))
	rooms := slices.Index(set.Features, "rm")
	house.Set(0, rooms, house.At(0, rooms)+1)
	inputs, err := dataset.NewInputs(house)
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := m.Predict(solution, inputs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("one room more: mean %.1f, sd %.1f\n", predicted.Mean[0], predicted.SD()[0])
	// Output:
	// status: converged
	// left-out square error: 16.25
	// first example: target 24.0, mean 25.4, sd 1.7
	// one room more: mean 34.8, sd 1.7
}

// Data of one's own: a CSV file with a header, the target in the last column,
// and new inputs whose columns are found by name.
func Example_csv() {
	houses := `area,age,price
50,30,150
65,12,230
80,40,205
80,40,215
95,5,360
110,22,330
120,8,410
140,35,370
`
	wanted := `age,area
10,100
60,60
`
	set, err := dataset.ReadTable(strings.NewReader(houses), "houses.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := model.Build(model.Spec{
		Set:         set,
		Standardize: true, // features to mean 0 and standard deviation 1
		// A smooth function of size 100 around a level of size 300, and noise of 15.
		Kernel: kernel.Spec{LengthScale: []float64{2}, Amplitude: 100 * 100, Constant: 300 * 300},
		Loss:   loss.Square{Noise: 15 * 15},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d examples at %d distinct inputs\n", set.N(), m.Sites())

	// The fit comes before the solve: both work in the same memory, and what is
	// read off the solution below needs it.
	fitted, err := m.FullFit()
	if err != nil {
		log.Fatal(err)
	}
	solution, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	e := solution.ErrorEstimates(loss.Absolute{}, fitted)
	fmt.Printf("absolute error: apparent %.0f, left-out %.0f, .632+ %.0f\n", e.Apparent, e.LeftOut, e.Err632Plus)

	inputs, err := set.Encoding().LoadInputs("-", dataset.Options{Stdin: strings.NewReader(wanted)})
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := m.Predict(solution, inputs)
	if err != nil {
		log.Fatal(err)
	}
	sd := predicted.SD()
	for i, mean := range predicted.Mean {
		fmt.Printf("area %.0f, age %.0f: price %.0f, sd over resamples %.0f\n", inputs.X.At(i, 0),
			inputs.X.At(i, 1), mean, sd[i])
	}
	// Output:
	// 8 examples at 7 distinct inputs
	// absolute error: apparent 4, left-out 28, .632+ 21
	// area 100, age 10: price 349, sd over resamples 14
	// area 60, age 60: price 213, sd over resamples 17
}

// A model file: trained once, written, and read by a program that has no training data. New
// inputs have their columns in any order, and texts as the training data had them.
func Example_modelFile() {
	flats := `district,area,price
old,50,150
new,65,300
old,80,205
old,95,260
new,110,430
new,120,480
`
	set, err := dataset.ReadTable(strings.NewReader(flats), "flats.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := model.Build(model.Spec{
		Set: set, Standardize: true, NormalizeTarget: true,
		Kernel: kernel.Spec{LengthScale: []float64{3}}, Loss: loss.Square{Noise: 100},
	})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := m.Fit(model.FitSettings{})
	if err != nil {
		log.Fatal(err)
	}
	trained, err := m.Predictor(fit)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := trained.Write(&file); err != nil {
		log.Fatal(err)
	}

	p, err := model.ReadPredictor(&file)
	if err != nil {
		log.Fatal(err)
	}
	wanted := "area,district\n70,old\n70,new\n"
	inputs, err := p.Encoding.LoadInputs("-", dataset.Options{Stdin: strings.NewReader(wanted)})
	if err != nil {
		log.Fatal(err)
	}
	prices, err := p.Predict(inputs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("70 square metres: %.0f in an old district, %.0f in a new one\n", prices[0], prices[1])
	// Output:
	// 70 square metres: 184 in an old district, 311 in a new one
}
