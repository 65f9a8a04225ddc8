package report

import (
	"io"

	"gonum.org/v1/gonum/blas/blas64"
)

// Sheet is an answer in every form in which it is given.
type Sheet struct {
	Document                       // as text, and on the page
	All      Document              // with all numbers, for --verbose; nil: the document has all
	Text     func(io.Writer) error // instead of the document's; nil: the document's
	JSON     any                   // instead of the document; nil: the document
	Worst    *Worst                // a table on the page; nil: none
	CSV      string                // name of the file of numbers in a folder; "": none
	WriteCSV func(io.Writer) error
	Figures  []*Figure
	Warnings []string
	Cost     *Cost  // to be filled in
	Status   string // "": done
	Covariances
}

// Covariances are those of predictions over resamples, computed if they are asked for; nil where there are
// none.
type Covariances func() (blas64.General, error)

// Answer is a document that says in which forms it is given.
type Answer interface {
	Document
	Sheet() *Sheet
}

// DropPoints leaves the values per example out of text and documents; WriteCSV still has them.
func (s *Sheet) DropPoints() {
	if d, has := s.Document.(interface{ DropPoints() }); has {
		d.DropPoints()
	}
}

// pointsFile is the name of the file of values per example or new input.
const pointsFile = "points.csv"

// withPoints adds values per example, unless these are nil.
func (s *Sheet) withPoints(p *Points, subject *Subject) *Sheet {
	if p != nil {
		s.CSV, s.WriteCSV, s.Worst = pointsFile, p.WriteCSV, &Worst{Points: p, Labels: subject.Labels}
		s.Figures = append(PointFigures(p), s.Figures...)
	}
	return s
}

// Sheet is Answer.Sheet.
func (e *Estimate) Sheet() *Sheet {
	s := &Sheet{Document: Brief{e}, All: e, JSON: e, Warnings: e.Warnings, Cost: &e.Cost, Status: e.Status,
		Figures: append(e.Figures, ReliabilityFigure(e.Calibration)...), Covariances: e.Covariances}
	return s.withPoints(e.Points, &e.Subject)
}

// Sheet is Answer.Sheet.
func (r *Retraining) Sheet() *Sheet {
	s := &Sheet{Document: r, Warnings: r.Warnings, Cost: &r.Cost, Status: r.Status}
	return s.withPoints(r.Points, &r.Subject)
}

// Sheet is Answer.Sheet.
func (l *LeaveOneOut) Sheet() *Sheet {
	s := &Sheet{Document: l, Warnings: l.Warnings, Cost: &l.Cost, Status: l.Status}
	s.withPoints(l.Points, &l.Subject).CSV = ""
	return s
}

// Sheet is Answer.Sheet.
func (c *CrossValidation) Sheet() *Sheet {
	return &Sheet{Document: c, Warnings: c.Warnings, Cost: &c.Cost, Status: c.Status, CSV: pointsFile,
		WriteCSV: c.Points.WriteCSV, Figures: ReliabilityFigure(c.Calibration)}
}

// Sheet is Answer.Sheet.
func (r *Prediction) Sheet() *Sheet {
	return &Sheet{Document: BriefPrediction{r}, All: r, JSON: r, Warnings: r.Warnings, Cost: &r.Cost,
		Status: r.Status, CSV: pointsFile, WriteCSV: r.Points.WriteCSV, Covariances: r.Covariances,
		Figures: append(PredictionFigure(r.Points, r.Interval), ReliabilityFigure(r.Calibration)...)}
}

// Sheet is Answer.Sheet.
func (p *ModelPrediction) Sheet() *Sheet {
	return &Sheet{Document: p, Warnings: p.Warnings, Cost: &p.Cost, CSV: pointsFile, WriteCSV: p.Points.WriteCSV}
}

// Sheet is Answer.Sheet.
func (r *Rows) Sheet() *Sheet {
	return &Sheet{Document: r, Warnings: r.Warnings, Cost: &r.Cost, Status: r.Status, CSV: "rows.csv",
		WriteCSV: r.WriteCSV}
}

// Sheet is Answer.Sheet.
func (c *Classes) Sheet() *Sheet {
	return &Sheet{Document: c, Warnings: c.Warnings, Cost: &c.Cost, CSV: pointsFile, WriteCSV: c.Points.WriteCSV}
}

// Sheet is Answer.Sheet.
func (p *ClassPrediction) Sheet() *Sheet {
	return &Sheet{Document: p, Warnings: p.Warnings, Cost: &p.Cost, CSV: pointsFile, WriteCSV: p.Points.WriteCSV}
}

// Sheet is Answer.Sheet.
func (t *Targets) Sheet() *Sheet {
	return &Sheet{Document: t, All: eachTarget{t}, JSON: t, Warnings: t.Warnings, Cost: &t.Cost,
		Status: t.Status}
}

// Sheet is Answer.Sheet.
func (t *TargetPredictions) Sheet() *Sheet {
	rows := t.table(func(p *Points) *Points { return p }, numberCell[float64])
	return &Sheet{Document: t, Warnings: t.Warnings, Cost: &t.Cost, CSV: pointsFile,
		WriteCSV: func(w io.Writer) error { return writeCSV(w, rows) }}
}

// Sheet is Answer.Sheet.
func (t *Training) Sheet() *Sheet {
	return &Sheet{Document: t, Warnings: t.Warnings, Cost: &t.Cost, Status: t.Status}
}

// Sheet is Answer.Sheet.
func (t *Tuning) Sheet() *Sheet {
	return &Sheet{Document: BriefTuning{t}, All: t, JSON: t, Warnings: t.Warnings, Cost: &t.Cost,
		Status: t.Status}
}

// Sheet is Answer.Sheet.
func (m *ModelComparison) Sheet() *Sheet {
	return &Sheet{Document: m, Warnings: m.Warnings(), Cost: &m.Cost}
}

// eachTarget is all that is known of each target.
type eachTarget struct{ *Targets }

func (e eachTarget) document() *document {
	d := e.Targets.document()
	for _, name := range e.Names {
		d.gap()
		d.blocks = append(d.blocks, e.Targets.Targets[name].document().blocks...)
	}
	return d
}

// DropPoints is for Sheet.DropPoints.
func (r *Prediction) DropPoints() { r.Points = nil }

// DropPoints is for Sheet.DropPoints.
func (p *ModelPrediction) DropPoints() { p.Points = nil }

// DropPoints is for Sheet.DropPoints.
func (c *Classes) DropPoints() { c.Points = nil }

// DropPoints is for Sheet.DropPoints.
func (p *ClassPrediction) DropPoints() { p.Points = nil }

// FromFile says which file a model was read from: none where it is trained for the answer.
type FromFile struct {
	Model     string `json:"model,omitempty"`      // as ModelFile
	ModelFile string `json:"model_file,omitempty"` // other answers have the hyperparameters under model
}

// Read names the file.
func (f *FromFile) Read(path string) { f.Model, f.ModelFile = path, path }

// ByModel is the answer of a trained model.
type ByModel interface {
	Answer
	Read(path string)
}
