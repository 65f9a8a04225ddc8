package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"bootbench/doc"
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

// Page is a result as one self-contained HTML file.
type Page struct {
	*Sheet
	Command string   // to repeat it
	Files   []string // names of files of numbers next to the page
	System  *System
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"document": Result.document, "more": more, "svg": inlineSVG, "kinds": kindsOf, "about": explained,
}).Parse(pageText))

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, p) }

func inlineSVG(f *Figure) (template.HTML, error) {
	var b strings.Builder
	err := f.write(&b, pageWidth, pageHeight)
	return template.HTML(b.String()), err
}

func kindsOf(checks Checks) (kinds []*Kind) {
	for _, k := range Kinds {
		if slices.ContainsFunc(checks, func(c Check) bool { return c.Code == k.Code }) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// explained is the paragraph of doc/checks.md on a kind of checks.
func explained(k *Kind) template.HTML {
	_, text, _ := strings.Cut(doc.Checks, "\n**"+k.Code)
	text, _, _ = strings.Cut("**"+k.Code+text, "\n\n")
	text = markdownLink.ReplaceAllString(template.HTMLEscapeString(text), "$1")
	text = markdownBold.ReplaceAllString(text, "<strong>$1</strong>")
	return template.HTML(markdownCode.ReplaceAllString(text, "<code>$1</code>"))
}

// The marks of Markdown that paragraphs on checks have.
var (
	markdownLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	markdownBold = regexp.MustCompile(`\*\*(.*?)\*\*`)
	markdownCode = regexp.MustCompile("`([^`]*)`")
)

// Levels of checks: a reader should act on an issue, and may learn from a tip.
const (
	issue = "issue"
	tip   = "tip"
)

// Kind is a kind of check. A code keeps its meaning for ever: a kind that is gone leaves a gap.
type Kind struct{ Code, Level, Name string }

// Kinds are all kinds, by code. Each has a paragraph in doc/checks.md.
var Kinds []*Kind

func kind(code, level, name string) *Kind {
	k := &Kind{code, level, name}
	Kinds = append(Kinds, k)
	return k
}

// The kinds of checks: of the data, of the model and its errors, and of the computation.
var (
	CopiedRows    = kind("BB001", tip, "copied rows")
	CopiesApart   = kind("BB002", issue, "copied rows are judged by their copies")
	Twins         = kind("BB003", tip, "twins")
	RepeatingIDs  = kind("BB004", issue, "repeating identifiers without groups")
	RowNumbers    = kind("BB005", tip, "feature that counts the rows")
	LeftOutColumn = kind("BB006", tip, "uninformative column")
	MissingCodes  = kind("BB007", issue, "code of missing values")
	Leak          = kind("BB008", issue, "leak")
	Spellings     = kind("BB009", issue, "texts that differ in spelling")
	LeadingZeros  = kind("BB010", tip, "numbers with leading zeros")
	FewRows       = kind("BB011", issue, "few rows")
	FewGroups     = kind("BB012", issue, "few groups")
	UnevenWeights = kind("BB013", issue, "weight on few rows")
	RareClass     = kind("BB014", issue, "rare class")
	Unequal       = kind("BB015", issue, "unequal classes hide what is learned")
	FewForLevel   = kind("BB016", issue, "few rows for the level")
	OtherColumns  = kind("BB017", issue, "new rows differ from the data's columns")
	OutsideData   = kind("BB018", issue, "rows outside the data")

	Imbalance = kind("BB019", tip, "unequal classes")
	TimeOrder = kind("BB020", issue, "errors between rows of a time")

	NoBetter   = kind("BB021", issue, "no better than the baseline")
	Correction = kind("BB022", issue, "the choice flatters the error")
	AtTheEdge  = kind("BB023", issue, "at the edge of the search")
	Narrow     = kind("BB024", issue, "narrow kernel")
	OtherSide  = kind("BB025", issue, "class and probability disagree")
	SampleOnly = kind("BB026", issue, "error of a sample")

	Contradicts    = kind("BB031", tip, "theory contradicted")
	NotConverged   = kind("BB032", issue, "not converged")
	NotComputed    = kind("BB033", issue, "not computed")
	NotNumbers     = kind("BB034", issue, "not all numbers")
	CellFailed     = kind("BB035", issue, "failed cell")
	FewResamples   = kind("BB036", issue, "few resamples")
	FewPermuted    = kind("BB037", issue, "few permutations")
	ConstantModels = kind("BB038", issue, "resamples without a class")
)

// Check is a finding about data or an answer: what was found, the number that triggers it, and the cure.
type Check struct {
	Code  string `json:"code"`
	Level string `json:"level"` // issue or tip
	Value Number `json:"value"`
	Text  string `json:"text"`
	Cure  string `json:"cure"`
}

// Check is a check of the kind. Its text and its cure name fields of Go.
func (k *Kind) Check(value float64, cure, format string, args ...any) Check {
	return Check{k.Code, k.Level, Number(value), fmt.Sprintf(format, args...), cure}
}

// Of is the check of a part of an answer, such as a target, with this name.
func (c Check) Of(name string) Check {
	c.Text = name + ": " + c.Text
	return c
}

// String is the check on a line.
func (c Check) String() string { return fmt.Sprintf("%s %s: %s", c.Code, c.Text, c.Cure) }

// Checks are checks, the issues first.
type Checks []Check

// MarshalJSON is a list, never null.
func (c Checks) MarshalJSON() ([]byte, error) { return json.Marshal(append([]Check{}, c...)) }

// Issues are the texts of the issues.
func (c Checks) Issues() []string {
	texts := []string{}
	for _, one := range c {
		if one.Level == issue {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

// Findings are the checks of an answer, and remarks on its computation on which a user cannot act.
type Findings struct {
	Checks   Checks   `json:"checks"`
	Warnings []string `json:"warnings"` // of Checks: their issues
	Remarks  []string `json:"remarks,omitempty"`
}

// Add adds checks that are not there.
func (f *Findings) Add(all ...Check) {
	for _, c := range all {
		if !slices.ContainsFunc(f.Checks, func(known Check) bool { return known.Text == c.Text }) {
			f.Checks = append(f.Checks, c)
		}
	}
	slices.SortStableFunc(f.Checks, func(a, b Check) int { return cmp.Compare(a.Level, b.Level) })
	f.Warnings = f.Checks.Issues()
}

// Remark adds remarks that are not there.
func (f *Findings) Remark(texts ...string) {
	for _, text := range texts {
		if !slices.Contains(f.Remarks, text) {
			f.Remarks = append(f.Remarks, text)
		}
	}
}

// AddOf adds the findings of a part of the answer with this name: a target, a class, or a row of a table. A
// contradicted theory, which would be said of every part, is a remark.
func (f *Findings) AddOf(name string, part *Findings) {
	for _, c := range part.Checks {
		if c = c.Of(name); c.Code == Contradicts.Code {
			f.Remark(c.Text)
		} else {
			f.Add(c)
		}
	}
	for _, text := range part.Remarks {
		f.Remark(name + ": " + text)
	}
}

// Drop removes checks by their codes.
func (f *Findings) Drop(codes []string) {
	f.Checks = slices.DeleteFunc(f.Checks, func(c Check) bool { return slices.Contains(codes, c.Code) })
	f.Warnings = f.Checks.Issues()
}

// CheckCodes refuses codes that are none.
func CheckCodes(codes []string) error {
	var known []string
	for _, k := range Kinds {
		known = append(known, k.Code)
	}
	for _, code := range codes {
		if !slices.Contains(known, code) {
			return fmt.Errorf("%q is no code of a check: there are %s", code, strings.Join(known, ", "))
		}
	}
	return nil
}
