package dataset

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

func drawn(t *testing.T, text string) *Set {
	t.Helper()
	return testutil.Must(Load(text, Options{}))(t)
}

// sameInputs reports whether two sets of one shape hold the same inputs.
func sameInputs(a, b *Set) bool {
	if a.Sparse != nil && b.Sparse != nil {
		return slices.Equal(a.Sparse.Start, b.Sparse.Start) && slices.Equal(a.Sparse.Index, b.Sparse.Index) &&
			slices.Equal(a.Sparse.Value, b.Sparse.Value)
	}
	return slices.Equal(a.X.Data, b.X.Data)
}

func TestSyntheticPrefix(t *testing.T) {
	for _, g := range Generators() {
		head, short := drawn(t, "synthetic:"+g.Name+",n=300,seed=5").Head(100),
			drawn(t, "synthetic:"+g.Name+",n=100,seed=5")
		if !sameInputs(head, short) || !slices.Equal(head.Targets(0), short.Targets(0)) {
			t.Errorf("%s: the first 100 of 300 examples are not the draw of 100", g.Name)
		}
		other := drawn(t, "synthetic:"+g.Name+",n=100,seed=6")
		if sameInputs(other, short) || slices.Equal(other.Targets(0), short.Targets(0)) {
			t.Errorf("%s: another seed draws the same", g.Name)
		}
		if short.Task() != g.Task || short.D() != g.D || short.Check(g.Task != "regression") != nil {
			t.Errorf("%s: task %v, d = %d", g.Name, short.Task(), short.D())
		}
	}
}

// Published results name seeds, so the stream must never change. Targets without noise are friedman1's
// formula.
func TestSyntheticStreamIsFixed(t *testing.T) {
	s := drawn(t, "synthetic:friedman1,n=2,seed=1,noise=0")
	want := []float64{0.22924348765716995, 0.646292072487908, 0.6113641858093656}
	x := s.X.Row(0)
	f := 10*math.Sin(math.Pi*x[0]*x[1]) + 20*math.Pow(x[2]-0.5, 2) + 10*x[3] + 5*x[4]
	if !slices.Equal(x[:3], want) || math.Abs(s.Targets(0)[0]-f) > 1e-13*30 { // rounding
		t.Errorf("the first inputs are %v, they were %v; target %v, formula %v", x, want, s.Targets(0)[0], f)
	}
}

// The noise of every regression set has the variance asked for: with the same seed, inputs at zero noise and
// at noise 2 coincide, so targets differ by it.
func TestRegressionNoise(t *testing.T) {
	const n = 20000
	for _, name := range []string{"friedman1", "waves", "grid"} {
		clean, noisy := drawn(t, "synthetic:"+name+",n=20000,noise=0"),
			drawn(t, "synthetic:"+name+",n=20000,noise=2")
		if !slices.Equal(clean.X.Data, noisy.X.Data) {
			t.Fatalf("%s: the inputs depend on the noise", name)
		}
		e := make([]float64, n)
		for i := range e {
			e[i] = noisy.Targets(0)[i] - clean.Targets(0)[i]
		}
		// Standard errors: 2/sqrt(n) of the mean, 2/sqrt(2n) of the deviation.
		if mean, sd := exactMoments(e); math.Abs(mean) > 10/math.Sqrt(n) ||
			math.Abs(sd-2) > 10/math.Sqrt(2*n) {
			t.Errorf("%s: noise has mean %v, sd %v", name, mean, sd)
		}
	}
}

// The rule sign(sum x) is the best one for blobs: its error is Phi(-1/noise).
func TestBlobsBestError(t *testing.T) {
	const n = 40000
	for text, noise := range map[string]float64{"synthetic:blobs,n=40000": 1,
		"synthetic:blobs,n=40000,d=5,noise=0.5": 0.5} {
		s := drawn(t, text)
		wrong := 0
		for i, y := range s.Targets(0) {
			if y*dot(s.X.Row(i), slices.Repeat([]float64{1}, s.D())) < 0 {
				wrong++
			}
		}
		want := math.Erfc(1/noise/math.Sqrt2) / 2
		if got := float64(wrong) / n; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("%s: error %v, want %v", text, got, want)
		}
	}
}

// TestTextClassesDiffer: the difference of the class means of one half classifies the other half better than
// chance and not perfectly, both by far more than the standard error 0.008. At a larger tilt it errs less, at
// tilt 0 as often as chance.
func TestTextClassesDiffer(t *testing.T) {
	for tilt, limits := range map[string][2]float64{"": {0.04, 0.15}, ",tilt=0.3": {0.04, 0.15},
		",tilt=1": {0.004, 0.02}, ",tilt=0": {0.46, 0.54}} {
		s := drawn(t, "synthetic:text,n=4000"+tilt)
		weight := make([]float64, s.D())
		wrong := 0.0
		for i, y := range s.Targets(0) {
			index, value := s.Sparse.Row(i)
			f := 0.0
			for k, c := range index {
				if i < 2000 {
					weight[c] += y * value[k]
				} else {
					f += weight[c] * value[k]
				}
			}
			if i >= 2000 && f*y <= 0 {
				wrong++
			}
			if squares := dot(value, value); math.Abs(squares-1) > 1e-12 {
				t.Fatalf("row %d has length %v", i, math.Sqrt(squares))
			}
		}
		if share := wrong / 2000; share < limits[0] || share > limits[1] {
			t.Errorf("text%s: a share %v of new documents is misclassified", tilt, share)
		}
		if entries := float64(len(s.Sparse.Index)) / 4000; entries < 75 || entries > 95 {
			t.Errorf("text%s: %v entries a row", tilt, entries)
		}
		if again := drawn(t, s.Name); !sameInputs(s, again) {
			t.Errorf("%s draws other documents", s.Name)
		}
	}
}

// TestEmbedded: the files agree with the table in embedded/README.md and with published facts.
func TestEmbedded(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(string(testutil.Must(os.ReadFile("embedded/README.md"))(t))) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, ".csv") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), ".csv")
			rows[name] = strings.TrimSpace(line)
		}
	}
	if len(rows) != len(Names()) {
		t.Errorf("%d files in the table, %d embedded", len(rows), len(Names()))
	}
	known := map[string]struct {
		positive        int     // labels
		mean, tolerance float64 // half a unit of the last digit quoted
	}{
		"boston": {0, 22.5328, 5e-5}, "crabs": {100, 0, 0}, "crabs_sp": {100, 0, 0},
		"wisconsin": {239, -205.0 / 683, 1e-12}, "sonar": {111, 14.0 / 208, 1e-12},
		"pima": {177, -178.0 / 532, 1e-12}, "iris": {50, 1, 0},
	}
	for _, name := range Names() {
		s := testutil.Must(Open(name))(t)
		_, distinct := s.Distinct()
		content := testutil.Must(embedded.ReadFile("embedded/" + name + ".csv"))(t)
		want := fmt.Sprintf("| %s.csv | %d | %d | %s | %d | %x |",
			name, s.N(), s.D(), s.TargetNames(), s.N()-len(distinct), sha256.Sum256(content))
		if rows[name] != want {
			t.Errorf("the table has\n%s\nthe file gives\n%s", rows[name], want)
		}
		sum, positive := 0.0, 0
		for _, y := range s.Targets(0) {
			sum += y
			if !s.AreNumbers() && y == 1 {
				positive++
			}
		}
		if is := known[name]; math.Abs(sum/float64(s.N())-is.mean) > is.tolerance || positive != is.positive {
			t.Errorf("%s: target mean %v, %d of label 1", name, sum/float64(s.N()), positive)
		}
		if len(s.Levels()) > 2 {
			continue
		}
		if err := s.Check(name != "boston"); err != nil || s.Source == "" {
			t.Errorf("%s: %v, task %v", name, err, s.Task())
		}
		requireRoundTrip(t, s)
	}
}
