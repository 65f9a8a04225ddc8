package tune

import "context"

// Section is the objective along one hyperparameter, or all length scales by one factor, through the
// model that was chosen.
type Section struct {
	Name      string    `json:"name"`
	Examples  int       `json:"examples"` // on which models were judged
	Values    []float64 `json:"values"`   // of the first of the length scales
	Objective []float64 `json:"objective"`
}

// Places of a section: so many on either side, in steps of the logarithm.
const (
	sectionHalf = 5
	sectionStep = 0.4
)

// Sections judges models along each hyperparameter around those of a Result, on a part of the
// data where there are many; one that cannot be judged is left out. A cancelled ctx ends it early.
func (r *Result) Sections(ctx context.Context, p Problem) ([]Section, error) {
	p.Spec = r.Spec
	s, err := newSearch(p, Settings{MaxEvaluations: 1 << 30})
	if err != nil {
		return nil, err
	}
	center := s.values(&s.spec)
	part := s.subset(startExamples)
	var all []Section
	for k, c := range s.coordinates(center, true) {
		section := Section{Name: s.result.Over[c.members[0]].Name, Examples: part.Set.N()}
		d := s.descent(ctx, part, looseTolerance, center, true)
		for step := -sectionHalf; step <= sectionHalf; step++ {
			x := make([]float64, len(d.coordinates))
			x[k] = float64(step) * sectionStep
			if x[k] <= c.lo || x[k] >= c.hi || ctx.Err() != nil {
				continue
			}
			judged := len(s.result.Path)
			d.value(d.outside(x))
			if path := s.result.Path; len(path) > judged && path[judged].Failure == "" {
				section.Values = append(section.Values, path[judged].Values[c.members[0]])
				section.Objective = append(section.Objective, path[judged].Value)
			}
		}
		all = append(all, section)
	}
	return all, nil
}
