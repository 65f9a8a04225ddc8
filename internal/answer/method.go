package answer

import (
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
)

// Method is the basis of an estimate.
type Method int

// Exact resamples need only one refresh of G, without a solve of the theory (theory 14).
const (
	TheoryMethod Method = iota // the theory, refined by exact resamples
	FitsMethod                 // exact resamples around one refresh of G
	AutoMethod                 // FitsMethod if the theory is slow and nothing requested needs it
)

// A theory on a dense kernel matrix takes about theorySweeps refreshes of n^3 operations. Above
// mostOperations, 4150 sites and about 10 s on two cores, AutoMethod omits it; for several classes, whose
// joint decision always uses exact resamples, above mostBeside.
const (
	theorySweeps   = 7
	mostOperations = 5e11
	mostBeside     = 1e11
)

// longTheory reports whether the theory is slow on a dense kernel matrix of that many sites.
func longTheory(sites int) bool { return theoryOperations(sites) > mostOperations }

func theoryOperations(sites int) float64 {
	n := float64(sites)
	return theorySweeps * n * n * n
}

// NeedsTheory names the requested results that only the theory gives, or is "".
func (s *Settings) NeedsTheory(l loss.Loss) string {
	switch {
	case loss.TraitsOf(l).Proximal == nil:
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

// fitsAlone reports whether an estimate uses only exact resamples.
func (j *Job) fitsAlone(s Settings) bool {
	switch {
	case resample.IsDependent(s.Scheme) || s.Method == FitsMethod:
		return true
	case s.Method == AutoMethod:
		return j.Form() == model.Exact && longTheory(j.Sites()) && s.NeedsTheory(j.Loss) == ""
	}
	return false
}
