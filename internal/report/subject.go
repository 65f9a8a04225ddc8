package report

import (
	"cmp"
	"fmt"
	"slices"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/loss"
)

// Subject describes the data and the model. Its fields are in every document about one data set.
type Subject struct {
	Data string `json:"data"`
	N    int    `json:"n"` // examples
	D    int    `json:"d"` // features
	// for a sample: its size, and the number of all rows
	Sample    int    `json:"sample,omitempty"`
	RowsTotal int    `json:"rows_total,omitempty"`
	Sites     int    `json:"sites"`  // distinct inputs; all examples with a jitter
	Merged    int    `json:"merged"` // examples that share the site of an earlier one
	Task      string `json:"task"`
	Loss      string `json:"loss"`
	loss.Parameters
	Kernel       kernel.Spec `json:"kernel"` // with its defaults
	Standardized bool        `json:"standardized"`
	Target       string      `json:"target,omitempty"` // column of the file
	// subtracted from the targets, and added to predictions; nil: none
	TargetMean *float64 `json:"target_mean,omitempty"`
	Labels     *Labels  `json:"labels,omitempty"`   // unless they are -1 and +1 in the file
	Positive   string   `json:"positive,omitempty"` // the class that probabilities are of
	// Notes report what was detected in the file, left out or encoded.
	Notes  []string `json:"notes,omitempty"`
	Preset string   `json:"preset,omitempty"` // source of the model of an embedded set
	// Reading are the flags of reading the data, as name=value.
	Reading []string `json:"reading,omitempty"`
	Model   *Model   `json:"model,omitempty"`
	// If no model was given: how it was chosen, and the command line that repeats it.
	ChosenBy    string `json:"chosen_by,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
}

// Model holds every hyperparameter, by the name of its flag.
type Model struct {
	Loss string `json:"loss"`
	loss.Parameters
	Kernel
	Bias            bool `json:"bias"`
	Standardize     bool `json:"standardize"`
	NormalizeTarget bool `json:"normalize_target"`
	// Chosen names the hyperparameters that the rows have chosen.
	Chosen []string `json:"chosen,omitempty"`
}

// Labels are the names of the labels -1 and +1.
type Labels struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// Name is the printable name of a label, or of the sign of a predictor; -1 or 1 if l is nil.
func (l *Labels) Name(label float64) string {
	var c dataset.Column
	if l != nil {
		c.Levels = []string{l.Negative, l.Positive}
	}
	return c.Level(label)
}

// Kernel is kernel.Spec by the names of flags.
type Kernel struct {
	Kind        kernel.Kind `json:"kernel"`
	Gamma       float64     `json:"gamma,omitempty"`
	LengthScale []float64   `json:"length_scale,omitempty"`
	Degree      int         `json:"degree,omitempty"`
	Coef0       float64     `json:"coef0,omitempty"`
	Amplitude   float64     `json:"amplitude"`
	Constant    float64     `json:"constant"`
	Jitter      float64     `json:"jitter"`
}

// Resampling describes the resampling of training sets.
type Resampling struct {
	Scheme string  `json:"scheme"`
	Ratio  float64 `json:"ratio"`            // nu = S/N
	Design string  `json:"design,omitempty"` // of whole groups, within strata or of blocks
	// whether .632 and .632+ suit this scheme and ratio
	Is632Applicable bool    `json:"suits_632"`
	Distinct        float64 `json:"distinct"` // mean number of distinct examples in a resample
}

// Times are wall times in seconds. Total runs from the start of the command to its answer.
type Times struct {
	Read    float64 `json:"read"`
	Choose  float64 `json:"choose,omitempty"` // the search for a model
	Gram    float64 `json:"gram"`
	Fit     float64 `json:"fit,omitempty"` // the one fit to all data
	Solve   float64 `json:"solve,omitempty"`
	Predict float64 `json:"predict,omitempty"`
	Retrain float64 `json:"retrain,omitempty"`
	Fits    float64 `json:"fits,omitempty"`     // of retraining, with the solve for batches
	Theory  float64 `json:"theory,omitempty"`   // predicted time of the theory, if it was not solved
	AllRows float64 `json:"all_rows,omitempty"` // predicted time of an answer with all rows, not a sample
	Total   float64 `json:"total"`
	// Iterations counts the steps of all fits in blocks of this process, and Exact the fits that blocks
	// left to the loss's trainer.
	Iterations int `json:"iterations,omitempty"`
	Exact      int `json:"exact,omitempty"`
}

// Memory is the maximum resident set of the process so far.
type Memory struct {
	PeakBytes int64 `json:"peak_bytes"`
}

// Backend describes the BLAS.
type Backend struct {
	Name    string `json:"name"`
	Core    string `json:"core"`
	Threads int    `json:"threads"`
}

// Cost is the time and memory of an answer, and the backend.
type Cost struct {
	Time    Times   `json:"time"`
	Memory  Memory  `json:"memory,omitzero"`
	Backend Backend `json:"backend,omitzero"`
}

// Outcome ends an answer: findings and cost.
type Outcome struct {
	Findings
	Cost
}

func (o *Outcome) outcome() *Outcome { return o }

// about begins a document on a data set, with what to know about its rows.
func about(title string, s Subject) *document {
	d := &document{Title: title + " " + ShortName(s.Data)}
	d.line("data", "%s: %d rows, %d features, %s%s", s.Data, s.N, s.D, s.Task, nonzero(" of %s", s.Target))
	if s.Sample > 0 {
		d.line("sample", "%d of %d rows, drawn at random; Study.Others=nil takes all of them", s.Sample,
			s.RowsTotal)
	}
	for _, note := range s.Notes {
		d.line("note", "%s", note)
	}
	return d
}

// model prints the model, in units of the first of several targets, how it was chosen if it was not given,
// and the command to repeat it.
func (d *document) model(s Subject, targets []string) {
	d.line("model", "%s%s%s", s.ModelText(), nonzero(" (preset: %s)", s.Preset),
		nonzero(" (in units of %s)", slices.Concat(targets, []string{""})[0]))
	if s.ChosenBy != "" {
		d.line("chosen", "by %s", s.ChosenBy)
		d.line(repeated, "%s", s.CommandLine)
	}
}

// ModelText is the loss and the kernel with their hyperparameters.
func (s *Subject) ModelText() string {
	w := s.ClassWeights
	weights := fmt.Sprintf("times %.4g for class -1 and %.4g for +1", w.Negative, w.Positive)
	parameters := join(s.Loss+" loss", nonzero("noise %.4g", s.Noise), nonzero("C %.4g", s.C)) +
		either(w != loss.ClassWeights{}, " "+weights, "")
	return join(parameters, nonzero("epsilon %.4g", s.Epsilon),
		either(s.Model != nil && s.Model.Bias, "bias", ""), "kernel "+KernelText(s.Kernel))
}

func (s *Subject) target() string { return cmp.Or(s.Target, "y") }

// KernelText describes a kernel by the parameters of its kind.
func KernelText(k kernel.Spec) string {
	scale := nonzero("gamma %.4g", k.Gamma)
	if n := len(k.LengthScale); n == 1 {
		scale = fmt.Sprintf("length scale %.4g", k.LengthScale[0])
	} else if n > 1 {
		scale = fmt.Sprintf("%d length scales from %.4g to %.4g", n, slices.Min(k.LengthScale),
			slices.Max(k.LengthScale))
	}
	polynomial := either(k.Degree != 0, fmt.Sprintf("degree %d, coef0 %.4g", k.Degree, k.Coef0), "")
	return join(k.Kind.String(), scale, polynomial, fmt.Sprintf("amplitude %.4g", k.Amplitude),
		nonzero("constant %.4g", k.Constant), nonzero("jitter %.4g", k.Jitter))
}

// inputsOf prints how training sets are drawn, and what the model sees of the data.
func (d *document) inputsOf(a *Answer) {
	if r := a.Resampling; r != nil {
		d.line("resampling", "%s%s%s, ratio %.4g: S = %s of n = %d, %.1f distinct rows on average", r.Scheme,
			nonzero(", %d folds", a.Folds), nonzero(" %s", r.Design), r.Ratio, number(r.Ratio*float64(a.N)),
			a.N, r.Distinct)
	}
	if m := a.TargetMean; m != nil {
		d.line("target", "%s, centred at %s", a.target(), number(*m))
	} else if a.Labels != nil {
		d.line("target", "%s: %s is +1, %s is -1", a.target(), a.Labels.Name(1), a.Labels.Name(-1))
	}
	d.line("features", "%s", either(a.Standardized, "standardised to mean 0 and standard deviation 1",
		"as they are"))
	d.line("inputs", "%d distinct ones%s", a.Sites, nonzero("; %d rows repeat those of others", a.Merged))
}

// withCost is the document with the cost of the answer at its end, if it is the full one.
func (d *document) withCost(full bool, c Cost) *document {
	if !full || c.Backend.Name == "" { // of one of several targets
		return d
	}
	d.gap()
	part := func(name string, s float64) string { return either(s > 0, name+" "+seconds(s), "") }
	t := c.Time
	d.line("seconds", "%s%s", seconds(t.Total), nonzero(" (%s)", join(part("read", t.Read),
		part("kernel matrix", t.Gram), part("full fit", t.Fit), part("solve", t.Solve), part("predict",
			t.Predict), part("retrain", t.Retrain))))
	d.line("memory", "%s at most; %s, %s, threads: %d", mebibytes(c.Memory.PeakBytes), c.Backend.Name,
		c.Backend.Core, c.Backend.Threads)
	return d
}

// LabelsOf names the two levels of a column, nil for others and for -1 and +1.
func LabelsOf(c *dataset.Column) *Labels {
	if len(c.Levels) != 2 || c.Levels[0] == "-1" && c.Levels[1] == "1" && !c.Texts && !c.Rest {
		return nil
	}
	return &Labels{c.Levels[0], c.Levels[1]}
}
