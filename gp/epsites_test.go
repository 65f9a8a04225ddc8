package gp

import (
	"testing"

	"bootbench/linalg"
	"bootbench/train"
)

// sharp is a Gaussian likelihood.
type sharp struct{}

func (sharp) Name() string { return "sharp" }

func (sharp) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return 0, (c*h + 4*k[0]*y[0]) / (c + 4*k[0]), 1 / (c + 4*k[0])
}

// TestEPSitesWithoutPosterior: where the sites of the smallest residual have no S, which is not computed
// after every sweep, those that had one the last time take their place.
func TestEPSitesWithoutPosterior(t *testing.T) {
	k := linalg.NewSym(2)
	k.Set(0, 0, 1)
	k.Set(1, 1, 1)
	e, err := NewEP(k, sharp{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Fit(train.Set{Y: []float64{1, 2}, Weight: []float64{1, 1}}, EPSettings{}); err != nil {
		t.Fatal(err)
	}
	e.bestT[0] = -2 // a precision of 1-2
	e.restoreBest()
	if !e.posterior() || e.t[0] < 0 {
		t.Errorf("sites %v have no posterior", e.t)
	}
}
