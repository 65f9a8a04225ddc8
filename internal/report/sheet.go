package report

import (
	"io"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// Sheet is an answer in all its output forms.
type Sheet struct {
	Answer                         // as text, and on the page
	Text     func(io.Writer) error // instead of the answer's; nil: the answer's
	JSON     any                   // instead of the answer; nil: the answer
	Worst    *Worst                // a table on the page; nil: none
	CSV      string                // name of the CSV file in a folder; "": none
	WriteCSV func(io.Writer) error
	Figures  []*Figure
	Warnings []string
	Cost     *Cost  // to be filled in
	Status   string // "": done
	Covariances
}

// Covariances computes the covariances of predictions over resamples; nil if there are none.
type Covariances func() (blas64.General, error)

// pointsFile is the name of the file of values per example or new input.
const pointsFile = "points.csv"

// pointed is the values of every example or new input.
type pointed interface {
	table(format func(float64) string) [][]string
}

// numbers adds the file of values per example or new input; drop removes them from the answer.
func numbers[P pointed](s *Sheet, p *P, drop bool) {
	values := *p
	s.CSV, s.WriteCSV = pointsFile, func(w io.Writer) error {
		return writeCSV(w, values.table(numberCell[float64]))
	}
	if drop {
		*p = *new(P)
	}
}

// examples adds the values per example, unless these are nil, with their figures and the worst of them.
func examples(s *Sheet, p **Points, labels *Labels, u units, drop bool) {
	if *p != nil {
		s.Figures, s.Worst = pointFigures(*p, u), &Worst{*p, labels, u}
		numbers(s, p, drop)
	}
}

// NewSheet is a sheet of an answer. With noPoints the values per example or new input are only in the CSV
// file.
func NewSheet(answer Answer, noPoints bool) *Sheet {
	s := &Sheet{Answer: answer}
	if o, has := answer.(interface{ outcome() *Outcome }); has {
		s.Warnings, s.Cost = o.outcome().Warnings, &o.outcome().Cost
	}
	switch a := answer.(type) {
	case *Estimate:
		examples(s, &a.Points, a.Labels, units(a.TestLoss), noPoints)
		if noPoints && a.Refined != nil {
			a.Refined.Points = nil
		}
		s.Figures = slices.Concat(s.Figures, a.Figures, reliabilityFigure(a.Calibration))
		s.Status, s.Covariances = a.Status, a.Covariances
	case *Retraining:
		examples(s, &a.Points, a.Labels, units(a.TestLoss), noPoints)
		s.Status = a.Status
	case *LeaveOneOut:
		examples(s, &a.Points, a.Labels, a.units(), false)
		s.CSV, s.Status = "", a.Status
	case *CrossValidation:
		numbers(s, &a.Points, noPoints)
		s.Figures, s.Status = reliabilityFigure(a.Calibration), a.Status
	case *Prediction:
		s.Figures = append(predictionFigure(a.Points, a.Interval), reliabilityFigure(a.Calibration)...)
		numbers(s, &a.Points, noPoints)
		s.Status, s.Covariances = a.Status, a.Covariances
	case *ModelPrediction:
		numbers(s, &a.Points, noPoints)
	case *Rows:
		s.CSV, s.WriteCSV = "rows.csv", func(w io.Writer) error { return WriteRows(w, a.Rows) }
		s.Status = a.Status
	case *Classes:
		numbers(s, &a.Points, noPoints)
	case *ClassPrediction:
		numbers(s, &a.Points, noPoints)
	case *Targets:
		for _, t := range a.Targets {
			NewSheet(t, noPoints)
		}
		s.Status = a.Status
	case *TargetPredictions:
		rows := a.table(func(p *Points) *Points { return p }, numberCell[float64])
		s.CSV, s.WriteCSV = pointsFile, func(w io.Writer) error { return writeCSV(w, rows) }
		for _, t := range a.Targets {
			NewSheet(t, noPoints)
		}
	case *Training:
		s.Status = a.Status
	case *Tuning:
		s.Status = a.Status
	case *ModelComparison:
		s.Warnings, s.Cost = a.Warnings(), &a.Cost
	}
	return s
}
