package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/report"
	"bootbench/retrain"
	"bootbench/svm"
)

// perceptronLoss is what --loss of train takes beside the losses: a rule of learning
// that minimises none.
const perceptronLoss = "perceptron"

// perceptronFlags say how train runs the perceptron.
type perceptronFlags struct {
	form   string
	passes int
}

func (p *perceptronFlags) register(f *pflag.FlagSet) {
	f.StringVar(&p.form, "form", "dual",
		"perceptron: `FORM` dual, with weights of the examples, or primal, with weights of the features, for "+
			"--kernel linear; both make the same mistakes")
	f.IntVar(&p.passes, "passes", 100,
		"perceptron: at most `I` passes over DATA, at least 1; it ends with one that makes no mistake")
}

// asked checks the flags and reports whether they ask for the perceptron. If so, the
// model is built as for the hard margin, a loss of labels without a parameter.
func (p *perceptronFlags) asked(m *modelFlags) (bool, error) {
	if m.loss != perceptronLoss {
		for _, name := range []string{"form", "passes"} {
			if m.given(name) {
				return false, usage.Errorf("--%s is for --loss perceptron", name)
			}
		}
		return false, nil
	}
	for _, name := range slices.Concat(lossFlagNames[1:], []string{"tol", "bias", "no-bias"}) {
		if m.given(name) {
			return false, usage.Errorf("--%s: --loss perceptron takes only --form and --passes", name)
		}
	}
	if p.form != "dual" && p.form != "primal" {
		return false, usage.Errorf("--form %s: there are dual and primal", p.form)
	}
	if p.passes < 1 {
		return false, usage.Errorf("--passes is %d, must be at least 1", p.passes)
	}
	m.loss = loss.HardMargin{}.Name()
	return true, nil
}

// trainPerceptron runs the perceptron, writes its file and prints.
func (a *app) trainPerceptron(j *job, flags *trainFlags) error {
	p := &flags.perceptron
	j.report.Loss = perceptronLoss
	a.console.Progress("training", 0, 1)
	began := time.Now()
	learned, err := p.learn(j)
	if err != nil {
		return err
	}
	j.times.Fit = time.Since(began).Seconds()
	r := &retrain.Learned{Weight: make([]float64, j.Sites()), F: make([]float64, j.Sites())}
	total := 0.0
	for i, mistakes := range learned.Alpha {
		total += mistakes
		r.Weight[j.Site[i]] += j.Set.Y[i] * mistakes
		r.F[j.Site[i]] = learned.F[i]
	}
	if total > 0 && !slices.ContainsFunc(r.Weight, func(b float64) bool { return b != 0 }) {
		return usage.Errorf("--loss perceptron: the weights are all 0 after %d passes; a model file cannot "+
			"hold that", len(learned.Mistakes))
	}
	t := &report.Training{Perceptron: &report.Perceptron{Form: p.form, Mistakes: learned.Mistakes},
		Status: "converged"}
	if !learned.Converged {
		t.Status = "pass limit"
		a.status = exitNotConverged
		t.Warnings = append(t.Warnings,
			fmt.Sprintf("the perceptron still makes mistakes in pass %d: the classes may not be separable; more "+
				"--passes, or --loss hinge", len(learned.Mistakes)))
	}
	return a.writeModel(j, r, t, flags)
}

// learn runs the perceptron in its form.
func (p *perceptronFlags) learn(j *job) (*svm.Perceptron, error) {
	if p.form == "dual" {
		rows, err := svm.NewRows(j.Gram)
		if err != nil {
			return nil, err
		}
		return svm.TrainDualPerceptron(rows, j.Site, j.Set.Y, p.passes)
	}
	if k := j.report.Kernel; j.Kernel.Kind != kernel.Linear || k.Constant != 0 {
		return nil, usage.Errorf(
			"--form primal is for --kernel linear with --constant 0; --form dual is for every kernel")
	}
	if x := j.Set.Sparse; x != nil {
		return svm.TrainPerceptron(svm.SparseFeatures{Cols: x.Cols, Start: x.Start, Index: x.Index, Value: x.Value},
			j.Set.Y, p.passes)
	}
	x := j.Set.X
	return svm.TrainPerceptron(svm.DenseFeatures{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: x.Data},
		j.Set.Y, p.passes)
}
