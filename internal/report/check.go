package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
