package dataset

import (
	"math"
	"testing"
)

// TestTextLaw checks what the law of the generator says, by counting: rows of
// length 1, the number of entries, the share of documents that hold each of the
// frequent words, and the share of either class.
func TestTextLaw(t *testing.T) {
	const n, d = 4000, 2000
	s := generate(t, "synthetic:text,n=4000,d=2000,noise=0,seed=3")
	x := s.Sparse
	if x == nil || s.N() != n || s.D() != d {
		t.Fatalf("%d x %d, sparse: %v", s.N(), s.D(), x != nil)
	}
	holds := make([]float64, d)
	plus := 0.0
	for i := range n {
		index, value := x.Row(i)
		squares := 0.0
		for k, c := range index {
			squares += value[k] * value[k]
			holds[c]++
		}
		if math.Abs(squares-1) > 1e-12 {
			t.Fatalf("row %d has length %v", i, math.Sqrt(squares))
		}
		plus += (s.Y[i] + 1) / 2
	}
	if math.Abs(plus/n-0.5) > 5*0.5/math.Sqrt(n) {
		t.Errorf("a share %v of class +1", plus/n)
	}
	// A word is in a document of L words with probability 1 - (1-p)^L, averaged
	// here over ln L ~ N(ln 100, 0.4^2) by the midpoint rule on +-5 standard
	// deviations, and over its topic: p is that of a neutral text times
	// exp(+-0.3) or 1, over a norm that is 1 up to a few percent. The share of
	// the word must lie between those with p exp(-0.35) and p exp(0.35), and the
	// mean over 200 words within 5% of that with the average of the three.
	total := 0.0
	for w := range d {
		total += 1 / (float64(w) + 3.7)
	}
	share := func(p float64) float64 {
		const steps = 200
		sum := 0.0
		for k := range steps {
			z := -5 + 10*(float64(k)+0.5)/steps
			sum += 10.0 / steps * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) *
				-math.Expm1(100*math.Exp(0.4*z)*math.Log1p(-p))
		}
		return sum
	}
	mean, want := 0.0, 0.0
	for w := range 200 {
		p := 1 / (float64(w) + 3.7) / total
		got := holds[w] / n
		if slack := 5 * math.Sqrt(got*(1-got)/n); got > share(p*math.Exp(0.35))+slack ||
			got < share(p*math.Exp(-0.35))-slack {
			t.Errorf("word %d is in a share %v of the documents, a neutral text has %v", w, got, share(p))
		}
		mean += got / 200
		want += (0.4*share(p) + 0.3*share(p*math.Exp(0.3)) + 0.3*share(p*math.Exp(-0.3))) / 200
	}
	if math.Abs(mean-want) > 0.05*want {
		t.Errorf("words are in a share %v of the documents, expected %v", mean, want)
	}
}

// TestTextClassesDiffer: the difference of the class means, estimated on one
// half, tells the classes of the other half apart, but not all of them: between
// chance and no error at all, by far more than the standard error 0.008.
func TestTextClassesDiffer(t *testing.T) {
	s := generate(t, "synthetic:text,n=4000")
	weight := make([]float64, s.D())
	wrong := 0.0
	for i, y := range s.Y {
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
	}
	if share := wrong / 2000; share < 0.04 || share > 0.15 {
		t.Errorf("a share %v of new documents is misclassified", share)
	}
	entries := float64(s.Sparse.Entries()) / 4000
	if entries < 80 || entries > 95 {
		t.Errorf("%v entries a row", entries)
	}
}
