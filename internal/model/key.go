package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// Key is the key of the specification and of the view's function.
func (m *Model) Key(scheme resample.Scheme, more ...any) string {
	return m.Spec.Key(scheme, append(more, m.Function)...)
}

// Key encodes everything that an answer of this model under a scheme depends on: its data, its specification,
// and more. Answers with equal keys are equal.
func (s *Spec) Key(scheme resample.Scheme, more ...any) string {
	parameters, known := loss.ParametersOf(s.Loss)
	parameters.ClassWeights = loss.ClassWeights{Negative: parameters.ClassWeight(-1),
		Positive: parameters.ClassWeight(1)}
	canonical := []any{s.Set.Digest(), s.Loss.Name(), parameters, struct {
		Kernel                                    kernel.Spec
		Standardize, NormalizeTarget, Bias, Pairs bool
		Storage                                   string
		RankTol, RankError                        float64
		MaxRank                                   int
	}{s.CompleteKernel(), s.Standardize, s.NormalizeTarget, s.Bias, s.Pairs, s.Storage.String(), s.RankTol,
		s.RankError, s.MaxRank}, fmt.Sprintf("%T%+v", scheme, scheme)}
	if !known {
		canonical = append(canonical, fmt.Sprintf("%+v", s.Loss))
	}
	text, err := json.Marshal(append(canonical, more...))
	if err != nil { // NaN or Inf
		text = fmt.Appendf(nil, "%+v", append(canonical, more...))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
