package svm

import (
	"math/rand/v2"
	"testing"

	"bootbench/internal/need"
	"bootbench/linalg"
)

// Tolerances here: trained to 1e-9, f is good to about 1e-8 where K has
// condition 1e3 or less; alpha likewise.

func fixedProblem(box float64) (*linalg.Sym, Problem) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := 60
	return gram(rng, n, 0.05), Problem{Y: labels(rng, n), C: same(n, box)}
}

var fine = Settings{Tolerance: 1e-9}

// TestRepeatedExamples: k copies of an example on its site are one with box
// k C under a soft margin, and one with box +Inf under a hard one; the copies
// carry equal shares. On a site of its own with the same row of K, a copy makes
// K singular and leaves f as it is.
func TestRepeatedExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, box := range []float64{hard, 0.7} {
		k, p := fixedProblem(box)
		m := len(p.Y)
		merged := Problem{Y: p.Y, C: make([]float64, m)}
		many := Problem{}
		copies := make([]int, m)
		for s, y := range p.Y {
			copies[s] = rng.IntN(4)
			for range copies[s] {
				many.Y, many.Site, many.C = append(many.Y, y), append(many.Site, s), append(many.C, box)
				merged.C[s] += box
			}
		}
		one := mustTrain(t, k, merged, fine)
		all := mustTrain(t, k, many, fine)
		near(t, "f", all.F, one.F, 1e-7)
		for i, s := range many.Site {
			if d := all.Alpha[i]*float64(copies[s]) - one.Alpha[s]; d > 1e-7 || d < -1e-7 {
				t.Fatalf("copy %d carries %v of %v in %d copies", i, all.Alpha[i], one.Alpha[s], copies[s])
			}
		}

		n := len(many.Y)
		kn := linalg.NewSym(n)
		for i, a := range many.Site {
			for j, b := range many.Site {
				kn.Set(i, j, k.At(a, b))
			}
		}
		apart := mustTrain(t, kn, Problem{Y: many.Y, C: many.C}, fine)
		for i, s := range many.Site {
			if d := apart.F[i] - one.F[s]; d > 1e-7 || d < -1e-7 {
				t.Fatalf("f on the site of copy %d is %v, want %v", i, apart.F[i], one.F[s])
			}
		}
	}
}

// TestReuse: a Trainer gives for each training set what a new one gives, to
// the last bit, whatever it trained before, and so does another one on its
// kernel matrix.
func TestReuse(t *testing.T) {
	k, p := fixedProblem(1)
	trainer := newTrainer(t, k)
	another := NewTrainer(trainer.dual.whole)
	rng := rand.New(rand.NewPCG(8, 8))
	for range 40 {
		for i := range p.C {
			p.C[i] = float64(rng.IntN(3))
			if p.C[i] > 0 && rng.IntN(5) == 0 {
				p.C[i] = hard
			}
		}
		want := mustTrain(t, k, p, Settings{})
		for _, tr := range []*Trainer{trainer, another} {
			r := need.One(tr.Train(p, Settings{}))(t)
			near(t, "alpha", r.Alpha, want.Alpha, 0)
			near(t, "beta", r.Beta, want.Beta, 0)
			near(t, "f", r.F, want.F, 0)
		}
	}
}

// TestAllocations: with sizes settled Train allocates nothing of its own.
func TestAllocations(t *testing.T) {
	k, p := fixedProblem(hard)
	for i := range p.C {
		if i%3 == 0 {
			p.C[i] = 0
		}
	}
	trainer := newTrainer(t, k)
	fit := func() {
		if _, err := trainer.Train(p, Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	fit()
	if n := testing.AllocsPerRun(20, fit); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestResume: a training that starts from the last one's weights, at a larger or smaller C, has its solution;
// at other sites it starts anew.
func TestResume(t *testing.T) {
	for _, bias := range []bool{false, true} {
		k, p := fixedProblem(0.1)
		p.Bias = bias
		trainer := newTrainer(t, k)
		need.One(trainer.Train(p, fine))(t)
		last := 0.1
		for _, c := range []float64{0.4, 5, 100, 2} {
			p.C, p.Resume = same(len(p.Y), c), c/last
			if c == 100 {
				p.C[7] = 0
			}
			r := need.One(trainer.Train(p, fine))(t)
			cold := p
			cold.Resume = 0
			want := mustTrain(t, k, cold, fine)
			near(t, "f", r.F, want.F, 1e-6)
			near(t, "alpha", r.Alpha, want.Alpha, 1e-6*c)
			last = c
		}
	}
}
