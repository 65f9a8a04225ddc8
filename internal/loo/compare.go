package loo

import "context"

// Comparison are the settings that a comparison runs through: Exact, Fast,
// XiAlpha with rho = 2 and 1, Approximate.
func Comparison(s Settings) []Settings {
	list := make([]Settings, 5)
	for i, m := range []Method{Exact, Fast, XiAlpha, XiAlpha, Approximate} {
		list[i] = s
		list[i].Method, list[i].Rho = m, DefaultRho
	}
	list[3].Rho = 1
	return list
}

// Compare runs every method of Comparison on one problem. Each trains on all examples
// for itself, so that Elapsed is what it costs by itself, the kernel matrix apart.
// When ctx ends, Compare returns what is finished; the last Result may be
// Cancelled then.
func Compare(ctx context.Context, p Problem, s Settings) ([]*Result, error) {
	var results []*Result
	for _, settings := range Comparison(s) {
		r, err := Estimate(ctx, p, settings)
		if err != nil {
			return results, err
		}
		results = append(results, r)
		if r.Status == Cancelled {
			break
		}
	}
	return results, nil
}
