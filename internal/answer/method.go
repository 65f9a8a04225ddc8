package answer

import (
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
)

// Method says what an estimate rests on.
type Method int

// Exact resamples need one refresh of G, about which the theory is then not asked (THEORY 14).
const (
	TheoryMethod Method = iota // the theory, with exact resamples beside it
	FitsMethod                 // exact resamples around one refresh of G
	AutoMethod                 // FitsMethod if the theory takes long and nothing is asked for that needs it
)

// A theory on a whole kernel matrix takes about theorySweeps refreshes of n^3 operations. Above
// mostOperations, 4150 sites and some 10 s on two cores, AutoMethod does without. Of several classes, whose
// joint decision is judged by exact resamples in any case, it does without those above mostBeside.
const (
	theorySweeps   = 7
	mostOperations = 5e11
	mostBeside     = 1e11
)

// longTheory reports whether the theory of so many sites takes long on a whole kernel matrix.
func longTheory(sites int) bool { return theoryOperations(sites) > mostOperations }

func theoryOperations(sites int) float64 {
	n := float64(sites)
	return theorySweeps * n * n * n
}

// NeedsTheory names what is asked for that only the theory gives; "" for nothing.
func (s *Settings) NeedsTheory(l loss.Loss) string {
	_, proximal := l.(loss.Proximal)
	switch {
	case !proximal:
		return "the loss has no exact resamples"
	case s.Refine.Resamples == 0 || resample.ProbZero(s.Scheme, 1) == 0:
		return "there are no exact resamples that leave an example out"
	case s.Refine.leavesOutFew(s.Scheme):
		return "few exact resamples leave an example out"
	case len(s.Quantiles) > 0 || s.wants(calibration.Jackknife):
		return "--quantiles and --metrics jackknife are the theory's"
	}
	return ""
}

// fitsAlone reports whether an estimate rests on exact resamples alone.
func (j *Job) fitsAlone(s Settings) bool {
	switch {
	case resample.IsDependent(s.Scheme) || s.Method == FitsMethod:
		return true
	case s.Method == AutoMethod:
		return j.Form() == model.Exact && longTheory(j.Sites()) && s.NeedsTheory(j.Loss) == ""
	}
	return false
}
