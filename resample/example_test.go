package resample_test

import (
	"fmt"
	"log"

	"bootbench/resample"
)

// A scheme has both the distribution of counts, for the theory, and draws of them, for retraining.
func ExampleByName() {
	scheme, err := resample.ByName("poisson", resample.Options{N: 8, Ratio: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("an example is absent with probability %.4f\n", resample.ProbZero(scheme, 1))
	weight, absent := make([]float64, 8), 0
	for b := range 1000 {
		scheme.Draw(1, b, weight)
		for _, w := range weight {
			if w == 0 {
				absent++
			}
		}
	}
	fmt.Printf("and in %.2f of 8000 counts that were drawn\n", float64(absent)/8000)
	// Output:
	// an example is absent with probability 0.3679
	// and in 0.37 of 8000 counts that were drawn
}
