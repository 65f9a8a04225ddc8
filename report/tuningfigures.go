package report

import (
	"fmt"
	"math"
	"slices"
)

// Figures show the path, the objective along each hyperparameter, and how much each feature matters.
func (t *Tuning) Figures() []*Figure {
	name := "tune-" + fileName(ShortName(t.Data))
	figures := []*Figure{t.pathFigure(name + "-path")}
	if len(t.Sections) > 0 {
		figures = append(figures, t.sectionFigure(name+"-sections"))
	}
	if t.Features != nil {
		figures = append(figures, t.relevanceFigure(name+"-relevance"))
	}
	return figures
}

// pathFigure has the models in the order in which they were judged, those of each number of
// examples for themselves.
func (t *Tuning) pathFigure(name string) *Figure {
	p := Panel{X: Axis{Label: "model"}, Y: Axis{Label: t.By}, Legend: TopRight}
	for k, s := range t.Path {
		label := fmt.Sprintf("%d examples", s.Examples)
		at := slices.IndexFunc(p.Series, func(s Series) bool { return s.Label == label })
		if at < 0 {
			at = len(p.Series)
			p.Series = append(p.Series, Series{Label: label, Mark: Dots, Colour: at})
		}
		if s.Objective != nil {
			p.Series[at].Add(float64(k+1), *s.Objective)
		}
	}
	return &Figure{Name: name, Title: ShortName(t.Data) + ": the search", Panels: []Panel{p},
		Caption: "The objective of every model that was judged: all over the ranges, along the descents, and " +
			"on all examples."}
}

// sectionFigure has a panel for each hyperparameter.
func (t *Tuning) sectionFigure(name string) *Figure {
	f := &Figure{Name: name, Title: ShortName(t.Data) + ": around the choice",
		Caption: fmt.Sprintf(
			"The objective where one hyperparameter moves and the others stay, of %d examples; the line is the "+
				"value that was chosen.", t.Sections[0].Examples)}
	for _, s := range t.Sections {
		p := Panel{X: Axis{Label: s.Name, Log: true}, Y: Axis{Label: t.By}, Legend: NoLegend}
		p.Series = append(p.Series, Series{Mark: Joined, X: s.Values, Y: s.Objective})
		if chosen, ok := t.Best[s.Name].(float64); ok && len(s.Objective) > 0 {
			p.Series = append(p.Series, Series{Mark: Dashed, Colour: 1, X: []float64{chosen, chosen},
				Y: []float64{slices.Min(s.Objective), slices.Max(s.Objective)}})
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// relevanceFigure has one over the length scale of each feature: the model changes by about so much of its
// size when the feature does by one.
func (t *Tuning) relevanceFigure(name string) *Figure {
	p := Panel{X: Axis{Label: "feature", Min: 0.5, Max: float64(len(t.Features)) + 0.5},
		Y: Axis{Label: "1 / length scale"}, Legend: NoLegend}
	bars := Series{Mark: Bars}
	every := int(math.Ceil(float64(len(t.Features)) / 20))
	for k, v := range t.Kernel.LengthScale {
		bars.Add(float64(k)+0.5, 1/v)
		if k%every == 0 {
			p.X.Ticks = append(p.X.Ticks, Tick{At: float64(k + 1), Label: t.Features[k]})
		}
	}
	p.Series = []Series{bars}
	return &Figure{Name: name, Title: ShortName(t.Data) + ": relevance of features", Panels: []Panel{p},
		Caption: "One over the length scale of each feature, features in the order of the data: the model " +
			"hardly looks at those near 0."}
}
