package report

import (
	_ "embed"
	"fmt"
	"slices"
)

// Sheet is an answer in all its output forms.
type Sheet struct {
	Result               // as text, and on the page
	JSON       any       // as JSON: the result, or its rows
	Worst      *document // on the page; nil: none
	CSV        string    // name of the table's file in a folder; "": none
	Table      *Table    // as CSV
	Figures    []*Figure
	Findings   *Findings   // nil: none
	parts      []*Findings // of parts of the answer
	Cost       *Cost       // to be filled in
	Status     string      // "": done
	Covariance *Covariance
}

// pointsFile is the name of the file of values per example or new input.
const pointsFile = "points.csv"

// SheetOf is a sheet of a result. With noPoints the values per example or new input are only in the CSV
// file.
func SheetOf(r Result, noPoints bool) *Sheet {
	s := &Sheet{Result: r, JSON: r}
	if o, has := r.(interface{ outcome() *Outcome }); has {
		s.Findings, s.Cost = &o.outcome().Findings, &o.outcome().Cost
		s.parts = append(s.parts, s.Findings)
	}
	if f, has := r.(interface{ fill(s *Sheet, noPoints bool) }); has {
		f.fill(s, noPoints)
	}
	s.Ignore(nil)
	return s
}

// Ignore drops checks by their codes, also in parts of the answer.
func (s *Sheet) Ignore(codes []string) {
	for _, f := range s.parts {
		f.Drop(codes)
	}
}

// addParts adds the findings of an answer, nil for none, and of its targets.
func (s *Sheet) addParts(a *Answer) {
	if a != nil {
		s.parts = append(s.parts, &a.Findings)
		for _, t := range a.Targets {
			s.addParts(t)
		}
	}
}

func (a *Answer) fill(s *Sheet, noPoints bool) {
	s.addParts(a)
	s.Status, s.Covariance = a.Status, a.Covariance
	predicts := a.NewRows != nil
	if p := a.Points; p != nil || a.Targets != nil {
		s.CSV, s.Table = pointsFile, a.pointTable(false, numberCell[float64])
	}
	switch p := a.Points; {
	case p == nil:
	case predicts:
		s.Figures = predictionFigure(a, "")
	default:
		s.Figures, s.Worst = pointFigures(a), a.worstRows()
	}
	for _, name := range a.Names {
		if t := a.Targets[name]; t.Points != nil {
			s.Figures = append(s.Figures, either(predicts, predictionFigure, targetFigure)(t, name)...)
		}
	}
	s.Figures = slices.Concat(a.intervals(), a.learning(), s.Figures, a.Figures, a.reliability())
	if noPoints && a.LeftOneOut == nil {
		a.dropPoints()
	}
}

func (a *Answer) dropPoints() {
	a.Points = nil
	if a.Refined != nil {
		a.Refined.Points = nil
	}
	for _, t := range a.Targets {
		t.dropPoints()
	}
}

// pointTable has a row per example or new input, and the columns of every target; nil without points. A brief
// one has the columns of the short answer at new inputs.
func (a *Answer) pointTable(brief bool, format func(float64) string) (all *Table) {
	newRows := a.NewRows != nil
	if a.Points != nil {
		return a.Points.table(a.Positive, newRows, brief, format)
	}
	for _, name := range a.Names {
		if a.Targets[name].Points == nil {
			return nil
		}
		part := a.Targets[name].Points.table("", newRows, brief, format)
		if all == nil {
			all = &part.part(0, 1).Table
		}
		for k, h := range part.Heads[1:] {
			addColumn(all, textCell(name)+" "+string(h), part.Rows,
				func(row []string) string { return row[k+1] })
		}
	}
	return all
}

// single reports whether an error rate is of a few fits or one without each row: errors of rows are then 0 or
// 1, and do not tell which is worst.
func (a *Answer) single() bool {
	return units(a.TestLoss).share() && (a.Validation != nil || a.Command == "loo")
}

// worstRows are the rows with the largest errors by name, or with the least probability of their classes; nil
// if neither is known.
func (a *Answer) worstRows() *document {
	p, u := a.Points, units(a.TestLoss)
	errors, by, say := []float64(p.Error), "left-out error", u.text
	if a.single() {
		if errors = p.doubts(); errors == nil {
			return nil
		}
		by, say = "probability of the target", func(e Number) string { return share(1 - e) }
	}
	predicted := "left-out prediction"
	if p.OOBVote != nil && p.Target.Classes == nil {
		predicted = "share of left-out predictions " + a.Positive
	}
	var rows [][]string
	for _, i := range worst(errors, 10) {
		target, of := "", "-"
		switch {
		case p.Target.Classes != nil:
			target, of = p.Target.Classes[i], p.Class[i]
		case p.OOBVote != nil:
			target, of = a.Labels.Name(p.Target.Numbers[i]), fmt.Sprintf("%.0f%%", 100*p.OOBVote[i])
		case p.Class != nil:
			target, of = a.Labels.Name(p.Target.Numbers[i]), p.Class[i]
		default:
			target = number(p.Target.Numbers[i])
			if left := a.leftOutPredictions(); left != nil {
				of = number(left[i])
			}
		}
		rows = append(rows, []string{rowName(p.Names, i), target, of, say(Number(errors[i]))})
	}
	d := &document{}
	d.table([]head{"<row", "target", head(predicted), head(by)}, rows)
	return d
}
