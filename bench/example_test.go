package bench_test

import (
	"context"
	"fmt"
	"log"

	"bootbench"
	"bootbench/bench"
)

// The theory and 50 retrainings of one model on 100 rows; a row also has the time and memory of both.
func ExampleCompareTasks() {
	data, err := bootbench.Load("sonar", bootbench.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	tasks, err := bench.CompareTasks([]bench.Case{{Spec: bootbench.NewSpec(data, bootbench.Hinge{C: 1}),
		Sizes: []int{100}}}, bench.Settings{Ratios: []float64{1}, Resamples: 50, Scheme: "poisson"})
	if err != nil {
		log.Fatal(err)
	}
	row, err := tasks[0].Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, n = %d: left-out error %.2f by the theory, %.2f by %d retrainings\n", row.Data, row.N,
		row.TheoryError, row.RetrainError, row.RetrainResamples)
	// Output:
	// sonar, n = 100: left-out error 0.27 by the theory, 0.27 by 50 retrainings
}
