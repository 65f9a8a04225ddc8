package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/loss"
	"bootbench/model"
)

// Splits of BenchmarkBeside.
const (
	besideSplits = 2
	besideTrain  = 300  // examples to train on at most, of 60% of the set
	besideTest   = 2000 // examples to judge on at most
)

// chooser chooses a model for a training set, and says what CPU seconds that took.
type chooser func(b *testing.B, p Problem) (model.Spec, float64)

// BenchmarkBeside chooses gamma and noise or C by the objectives of this package, as estimate without flags
// does, by 5-fold cross-validation over 10 x 10 values with the exact trainers of this program, and, where
// svm-train is installed, by grid.py's grid with that, and reports the error on unseen data of the model and
// the CPU seconds of the choice, means of splits. BOOTBENCH_TUNE names further data files, separated by
// commas.
func BenchmarkBeside(b *testing.B) {
	for _, name := range besideSets() {
		set := need.One(dataset.Load(name, dataset.Options{}))(b)
		methods := []string{"632plus", "leftout", "quickfit", "grid"}
		choosers := map[string]chooser{"632plus": tunes(Plus632, false), "leftout": tunes(LeftOut, false),
			"grid": gridSearch, "quickfit": quickFit, "svm-train": libsvmGrid, "evidence": tunes(Evidence, false),
			"loo": tunes(LeaveOneOut, false), "632plus,ard": tunes(Plus632, true)}
		if set.Task == dataset.Regression {
			methods = append(methods, "evidence", "loo", "632plus,ard")
		} else if _, err := exec.LookPath("svm-train"); err == nil {
			methods = append(methods, "svm-train")
		}
		for _, method := range methods {
			b.Run("set="+besideName(name)+"/by="+method, func(b *testing.B) {
				for b.Loop() {
					sum, cpu := 0.0, 0.0
					for split := range besideSplits {
						train, test := besideSplit(set, uint64(split))
						spec, seconds := choosers[method](b, besideProblem(train))
						cpu += seconds / besideSplits
						sum += besideError(b, spec, test) / besideSplits
					}
					b.ReportMetric(sum, "error")
					b.ReportMetric(cpu, "cpu-s")
				}
			})
		}
	}
}

func besideSplit(set *dataset.Set, seed uint64) (train, test *dataset.Set) {
	order := rand.New(rand.NewPCG(seed, 60)).Perm(set.N())
	size := min(besideTrain, set.N()*6/10)
	return set.Subset(order[:size]), set.Subset(order[size:min(set.N(), size+besideTest)])
}

// besideProblem leaves gamma and noise or C open.
func besideProblem(set *dataset.Set) Problem {
	p := Problem{Spec: model.Spec{Set: set, Standardize: true, NormalizeTarget: true,
		Loss: loss.Square{Noise: 1}}, Over: []Axis{{Name: "gamma"}, {Name: "noise"}}}
	if set.Task == dataset.Classification {
		p.Spec.Loss, p.Over[1].Name = loss.Hinge{C: 1}, "C"
	}
	for _, axis := range p.Over {
		if err := (model.Hyperparameter{Name: axis.Name, Feature: -1}).Set(&p.Spec,
			Start(&p.Spec, axis.Name)); err != nil {
			panic(err)
		}
	}
	return p
}

// besideError is the mean loss of one fit on unseen data.
func besideError(b *testing.B, spec model.Spec, test *dataset.Set) float64 {
	m := need.One(model.Build(spec))(b)
	f := besideFits(b, m, test, []loss.Loss{spec.Loss})[0]
	return besideLoss(test, f)
}

func besideLoss(test *dataset.Set, f []float64) (sum float64) {
	for i, y := range test.Y {
		switch {
		case test.Task == dataset.Regression:
			sum += (f[i] - y) * (f[i] - y)
		case !(f[i]*y > 0):
			sum++
		}
	}
	return sum / float64(len(f))
}

// besideFits are the predictions of fits of a model with other losses, whose kernel values with the test set
// are computed once.
func besideFits(b *testing.B, m *model.Model, test *dataset.Set, losses []loss.Loss) (all [][]float64) {
	cross := make([]float64, 0, test.N()*m.Sites())
	if err := m.CrossInputs(&dataset.Inputs{X: test.X}, func(_ int, rows []float64) error {
		cross = append(cross, rows...)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for _, l := range losses {
		m.Loss = l
		fit := need.One(m.Fit(model.FitSettings{}))(b)
		f := make([]float64, test.N())
		for i := range f {
			f[i] = floats.Dot(cross[i*m.Sites():(i+1)*m.Sites()], fit.Weight) + fit.Bias + m.TargetMean
		}
		all = append(all, f)
	}
	return all
}

// cpuSeconds are those of this process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

func tunes(by By, ard bool) chooser {
	return func(b *testing.B, p Problem) (model.Spec, float64) {
		p.By = by
		if ard {
			p.Spec.Kernel.Gamma = 0
			for range p.Spec.Set.D() {
				p.Spec.Kernel.LengthScale = append(p.Spec.Kernel.LengthScale, Start(&p.Spec, "length-scale"))
			}
			p.Over[0].Name = "length-scale"
		}
		before := cpuSeconds()
		r := need.One(Run(b.Context(), p, Settings{}))(b)
		return r.Spec, cpuSeconds() - before
	}
}

// quickFit is what estimate does without flags.
func quickFit(b *testing.B, p Problem) (model.Spec, float64) {
	before := cpuSeconds()
	spec := p.Spec
	spec.Loss, spec.Kernel.Gamma = nil, 0
	q := need.One(model.FitQuickly(b.Context(), spec, nil))(b)
	return q.Spec, cpuSeconds() - before
}

// besideGrid are ten values in equal factors, over a range that holds the best on all the sets.
func besideGrid(from, to float64) (values []float64) {
	for k := range 10 {
		values = append(values, from*math.Pow(to/from, float64(k)/9))
	}
	return values
}

func gridSearch(b *testing.B, p Problem) (model.Spec, float64) {
	before := cpuSeconds()
	set := p.Spec.Set
	gammas := besideGrid(Start(&p.Spec, "gamma")/60, Start(&p.Spec, "gamma")*20)
	other := model.Hyperparameter{Name: p.Over[1].Name, Feature: -1}
	start := Start(&p.Spec, other.Name)
	values := besideGrid(start/100, start*100)
	if set.Task == dataset.Classification {
		values = besideGrid(0.1, 1000)
	}
	var losses []loss.Loss
	for _, v := range values {
		spec := p.Spec
		if err := other.Set(&spec, v); err != nil {
			b.Fatal(err)
		}
		losses = append(losses, spec.Loss)
	}
	order := rand.New(rand.NewPCG(7, 7)).Perm(set.N())
	best, least := p.Spec, math.Inf(1)
	for _, gamma := range gammas {
		sums := make([]float64, len(losses))
		for fold := range 5 {
			first, last := fold*set.N()/5, (fold+1)*set.N()/5
			spec := p.Spec
			spec.Kernel.Gamma, spec.Set = gamma, set.Subset(slices.Concat(order[:first], order[last:]))
			m := need.One(model.Build(spec))(b)
			held := set.Subset(order[first:last])
			for k, f := range besideFits(b, m, held, losses) {
				sums[k] += besideLoss(held, f) * float64(held.N())
			}
		}
		for k, sum := range sums {
			if sum < least {
				least, best.Loss, best.Kernel.Gamma = sum, losses[k], gamma
			}
		}
	}
	return best, cpuSeconds() - before
}

// libsvmGrid is grid.py's search: svm-train -v 5 over log2 C from -5 to 13 and log2 gamma from -15 to 3 in
// steps of 2.
func libsvmGrid(b *testing.B, p Problem) (model.Spec, float64) {
	set := p.Spec.Set
	sd := set.PopulationSD()
	var text strings.Builder
	for i := range set.N() {
		fmt.Fprintf(&text, "%g", set.Y[i])
		for k := range set.D() {
			fmt.Fprintf(&text, " %d:%.8g", k+1, set.X.Data[i*set.X.Stride+k]/sd[k])
		}
		text.WriteString("\n")
	}
	file := filepath.Join(b.TempDir(), "train")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	best, most, cpu := p.Spec, -1.0, 0.0
	best.Bias = true // as svm-train has it
	for c := -5; c <= 13; c += 2 {
		for g := -15; g <= 3; g += 2 {
			cmd := exec.Command("svm-train", "-q", "-v", "5", "-c", fmt.Sprint(math.Exp2(float64(c))), "-g",
				fmt.Sprint(math.Exp2(float64(g))), file)
			out := need.One(cmd.Output())(b)
			cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			var right float64
			if _, err := fmt.Sscanf(string(out), "Cross Validation Accuracy = %g%%", &right); err != nil {
				b.Fatal(err, string(out))
			}
			if right > most {
				most, best.Loss, best.Kernel.Gamma = right, loss.Hinge{C: math.Exp2(float64(c))}, math.Exp2(float64(g))
			}
		}
	}
	return best, cpu
}

// BenchmarkSeeds chooses as BenchmarkBeside does by the default objective, on its first training set,
// with five seeds of the starts, and reports by how much the worst choice
// is above the best, in per cent and in standard errors over examples.
func BenchmarkSeeds(b *testing.B) {
	for _, name := range besideSets() {
		set := need.One(dataset.Load(name, dataset.Options{}))(b)
		b.Run("set="+besideName(name), func(b *testing.B) {
			for b.Loop() {
				train, _ := besideSplit(set, 0)
				p := besideProblem(train)
				if train.Task == dataset.Classification {
					p.By = LeftOut
				}
				least, most, se := math.Inf(1), 0.0, 0.0
				for seed := range uint64(5) {
					r := need.One(Run(b.Context(), p, Settings{Seed: seed}))(b)
					if r.Value < least {
						least, se = r.Value, r.StandardError
					}
					most = math.Max(most, r.Value)
					b.Logf("seed %d: %g at %v, %d models", seed, r.Value, values(r.Over, &r.Spec), len(r.Path))
				}
				b.ReportMetric(100*(most/least-1), "%")
				b.ReportMetric((most-least)/se, "se")
			}
		})
	}
}

// besideSets are the data of the benchmarks.
func besideSets() []string {
	sets := []string{"boston", "synthetic:friedman1,n=1000", "synthetic:waves,n=800,d=2,noise=0.3", "crabs",
		"crabs_sp", "wisconsin", "sonar", "pima"}
	if more := os.Getenv("BOOTBENCH_TUNE"); more != "" {
		sets = append(sets, strings.Split(more, ",")...)
	}
	return sets
}

func besideName(name string) string {
	return strings.TrimSuffix(filepath.Base(strings.SplitN(name, ",", 2)[0]), ".csv")
}
