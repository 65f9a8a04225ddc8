package solver

// workspace allocates the vectors of a solve and adds up their bytes; one that is
// dry only adds.
type workspace struct {
	bytes int64
	dry   bool
}

func (w *workspace) vector(n int) []float64 {
	w.bytes += 8 * int64(n)
	if w.dry {
		return nil
	}
	return make([]float64, n)
}

func (w *workspace) vectors(count, n int) [][]float64 {
	all := make([][]float64, count)
	for i := range all {
		all[i] = w.vector(n)
	}
	return all
}
