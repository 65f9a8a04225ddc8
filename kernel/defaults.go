package kernel

// WithDefaults is s on d features with its defaults written out, as its fields
// document them.
func (s Spec) WithDefaults(d int) Spec {
	if s.Amplitude == 0 {
		s.Amplitude = 1
	}
	if (s.Kind.radial() || s.Kind == Poly) && s.Gamma == 0 && len(s.LengthScale) == 0 {
		s.Gamma = 1 / (2 * float64(d))
	}
	if s.Kind == Poly && s.Degree == 0 {
		s.Degree = defaultDegree
	}
	return s
}
