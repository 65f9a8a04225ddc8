package paper

import (
	"context"
	"fmt"
	"testing"

	"bootbench/loss"
	"bootbench/solver"
)

func TestTry(t *testing.T) {
	s := Settings{Resamples: 2000, Progress: nil}
	l, err := BostonLaws(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Choices {
		fmt.Printf("%s off %.1f R %d: close %.3f+-%.3f far %.3f+-%.3f largest %.3f+-%.3f\n", c.Scheme, c.Offset, c.Resamples, c.Close, c.CloseSE, c.Far, c.FarSE, c.Largest, c.LargestSE)
	}
	for _, p := range l.Typical {
		fmt.Println(p.Place, p.Why, p.L1, len(p.Edges))
	}
	if true {
		return
	}
	f, err := SonarFields(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Negative {
		fmt.Printf("%.3f %.3f+-%.3f  L1 %.3f\n", f.Negative[i], f.NaiveNegative[i], f.NaiveSE[i], f.L1[i])
	}
	m, err := HeldOut(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		fmt.Printf("%.3f %.3f+-%.3f  %.3f %.3f+-%.3f\n", m.Mean[i], m.NaiveMean[i], m.NaiveMeanSE[i], m.Var[i], m.NaiveVar[i], m.NaiveVarSE[i])
	}
	spec, _ := Boston()
	c, err := RegressionCurves(context.Background(), spec, loss.SquareTest{}, []solver.Method{solver.ADATAP, solver.StartOnly, solver.Variational, solver.MeanField}, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(c.Theory, c.Naive...) {
		fmt.Printf("%s %.3f %.3f %.3f %s\n", p.Method, p.Ratio, p.Error, p.SE, p.Status)
	}
}
