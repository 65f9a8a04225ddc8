package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Synthetic specifies a generated data set. Examples are drawn one after the
// other from one stream of random numbers, so the first n examples of a larger
// draw are the draw of n examples.
type Synthetic struct {
	// Generator is a name of Generators.
	Generator string
	// N is the number of examples, D the number of features; both at least 1.
	N, D int
	// Seed of the random numbers.
	Seed uint64
	// Noise is the strength of the noise; what it scales is said under
	// Generators.
	Noise float64
}

// Generator describes a synthetic generator. The random numbers are PCG; "u in
// [a,b)" is uniform, N(m, v) Gaussian.
type Generator struct {
	Name  string
	About string
	Task  Task
	// D and Noise are the defaults, MinD and MaxNoise the limits.
	D, MinD         int
	Noise, MaxNoise float64

	// One of them is nil, the other draws dense or sparse examples.
	prepare       func(rng *rand.Rand, d int, noise float64) drawFunc
	prepareSparse func(rng *rand.Rand, d int, noise float64) drawSparse
}

// drawFunc draws one example: it fills x and returns the target.
type drawFunc func(rng *rand.Rand, x []float64) float64

// drawSparse draws one example likewise and appends it to x as a row.
type drawSparse func(rng *rand.Rand, x *CSR) float64

// Generators lists the synthetic sets.
func Generators() []Generator {
	const unbounded = 1e9
	return []Generator{
		{"friedman1", "five of d uniform inputs matter, Friedman 1991", Regression, 10, 5, 1, unbounded, friedman1,
			nil},
		{"waves", "smooth function: sum of 64 random cosines", Regression, 4, 1, 0.1, unbounded, waves, nil},
		{"grid", "inputs on 5 levels each, so most repeat", Regression, 3, 1, 0.5, unbounded, grid, nil},
		{"blobs", "two overlapping Gaussian classes", Classification, 2, 1, 1, unbounded, blobs, nil},
		{"rings", "a class around the other", Classification, 2, 2, 0.3, unbounded, rings, nil},
		{"checker", "checkerboard of 4 x 4 fields, some labels flipped", Classification, 2, 1, 0.05, 0.5, checker,
			nil},
		{"text", "documents of two topics, Zipf word counts, tf-idf, sparse", Classification, 5000, 100, 0.4, 10,
			nil, text},
	}
}

// friedman1: x_j in [0,1),
//
//	y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise N(0,1).
//
// The remaining d-5 features are irrelevant. J. H. Friedman, Multivariate
// adaptive regression splines, Annals of Statistics 19 (1991).
func friedman1(_ *rand.Rand, _ int, noise float64) drawFunc {
	return func(rng *rand.Rand, x []float64) float64 {
		for j := range x {
			x[j] = rng.Float64()
		}
		f := 10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4]
		return f + noise*rng.NormFloat64()
	}
}

// waves: x ~ N(0, I_d) and, with M = 64,
//
//	y = sqrt(2/M) sum_m cos(w_m'x + b_m) + noise N(0,1),
//
// where w_m ~ N(0, I_d/d) and b_m in [0, 2 pi) are drawn once per seed. Over
// seeds, f is approximately a Gaussian process with kernel
// exp(-|x-x'|^2/(2d)): these are its random Fourier features (Rahimi and Recht,
// NIPS 2007).
func waves(rng *rand.Rand, d int, noise float64) drawFunc {
	const count = 64
	w := NewMatrix(count, d)
	b := make([]float64, count)
	for m := range count {
		for j := range d {
			w.Row(m)[j] = rng.NormFloat64() / math.Sqrt(float64(d))
		}
		b[m] = 2 * math.Pi * rng.Float64()
	}
	return func(rng *rand.Rand, x []float64) float64 {
		drawNormal(rng, x)
		f := 0.0
		for m := range count {
			f += math.Cos(dot(w.Row(m), x) + b[m])
		}
		return math.Sqrt(2.0/count)*f + noise*rng.NormFloat64()
	}
}

// grid: x_j in {0, 1, 2, 3, 4} with equal probability, so that there are at
// most 5^d distinct inputs, and y = sum_j cos(pi x_j/4) + noise N(0,1).
func grid(_ *rand.Rand, _ int, noise float64) drawFunc {
	return func(rng *rand.Rand, x []float64) float64 {
		f := 0.0
		for j := range x {
			x[j] = float64(rng.IntN(5))
			f += math.Cos(math.Pi * x[j] / 4)
		}
		return f + noise*rng.NormFloat64()
	}
}

// blobs: y = -1 or +1 with equal probability and x = y e/sqrt(d) + noise N(0, I),
// where e is the vector of ones: the centres lie at distance 2. The best
// possible error is Phi(-1/noise), 15.9% at noise 1.
func blobs(_ *rand.Rand, _ int, noise float64) drawFunc {
	return func(rng *rand.Rand, x []float64) float64 {
		y := drawLabel(rng)
		for j := range x {
			x[j] = y/math.Sqrt(float64(len(x))) + noise*rng.NormFloat64()
		}
		return y
	}
}

// rings: y = -1 or +1 with equal probability; x is uniform on the sphere of
// radius 1 (label -1) or 2 (label +1), plus noise N(0, I).
func rings(_ *rand.Rand, _ int, noise float64) drawFunc {
	return func(rng *rand.Rand, x []float64) float64 {
		y := drawLabel(rng)
		drawNormal(rng, x)
		scale := (1.5 + 0.5*y) / math.Sqrt(dot(x, x))
		for j := range x {
			x[j] = scale*x[j] + noise*rng.NormFloat64()
		}
		return y
	}
}

// checker: x_j in [0,4), y = +1 where the sum of the whole parts of all x_j is
// even, else -1; a label is flipped with probability noise <= 1/2.
func checker(_ *rand.Rand, _ int, noise float64) drawFunc {
	return func(rng *rand.Rand, x []float64) float64 {
		fields := 0
		for j := range x {
			x[j] = 4 * rng.Float64()
			fields += int(x[j])
		}
		y := float64(1 - 2*(fields%2))
		if rng.Float64() < noise {
			return -y
		}
		return y
	}
}

func drawLabel(rng *rand.Rand) float64 {
	return float64(2*rng.IntN(2) - 1)
}

func drawNormal(rng *rand.Rand, x []float64) {
	for j := range x {
		x[j] = rng.NormFloat64()
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// NewSynthetic is the specification of a generator with its default D and
// Noise, N = 1000 and Seed = 1.
func NewSynthetic(generator string) (Synthetic, error) {
	g, err := findGenerator(generator)
	if err != nil {
		return Synthetic{}, &Error{File: syntheticPrefix + generator, Err: err}
	}
	return Synthetic{Generator: g.Name, N: 1000, D: g.D, Seed: 1, Noise: g.Noise}, nil
}

func findGenerator(name string) (Generator, error) {
	var names []string
	for _, g := range Generators() {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Generator{}, fmt.Errorf("no generator %s (%s)", quote(name), strings.Join(names, ", "))
}

// String writes the specification as ParseSynthetic reads it.
func (s Synthetic) String() string {
	return fmt.Sprintf("%s%s,n=%d,seed=%d,d=%d,noise=%v", syntheticPrefix, s.Generator, s.N, s.Seed, s.D,
		s.Noise)
}

// Generate draws the set. Its size is bounded by Options.MaxBytes.
func (s Synthetic) Generate(opt Options) (*Set, error) {
	g, err := s.check(opt)
	if err != nil {
		return nil, &Error{File: s.String(), Err: err}
	}
	set := &Set{
		Name: s.String(), Source: "generated: " + g.About, Task: g.Task, Target: "y", Y: make([]float64, s.N),
	}
	const stream = 0x626f6f7462656e63 // any constant
	rng := rand.New(rand.NewPCG(s.Seed, stream))
	if g.prepareSparse != nil {
		set.Sparse, err = s.drawSparse(g, rng, set.Y, opt) // whatever n and d: a head of it is held as it is
		if err != nil {
			return nil, &Error{File: s.String(), Err: err}
		}
		return set, nil
	}
	set.X, set.Features = NewMatrix(s.N, s.D), numbered("x", s.D)
	draw := g.prepare(rng, s.D, s.Noise)
	for i := range set.Y {
		set.Y[i] = draw(rng, set.X.Row(i))
	}
	return set, nil
}

// drawSparse draws sparse inputs and the targets y, while they fit.
func (s Synthetic) drawSparse(g Generator, rng *rand.Rand, y []float64, opt Options) (*CSR, error) {
	x := &CSR{Cols: s.D, Start: make([]int, 1, s.N+1)}
	draw := g.prepareSparse(rng, s.D, s.Noise)
	for i := range y {
		y[i] = draw(rng, x)
		x.Rows++
		x.Start = append(x.Start, len(x.Index))
		if err := opt.fitsSparse(x.Rows, x.Cols, len(x.Index)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (s Synthetic) check(opt Options) (Generator, error) {
	g, err := findGenerator(s.Generator)
	switch {
	case err != nil:
		return g, err
	case s.N < 1:
		return g, fmt.Errorf("n = %d: at least 1 is needed", s.N)
	case s.D < g.MinD:
		return g, fmt.Errorf("d = %d: %s needs at least %d", s.D, g.Name, g.MinD)
	case !(s.Noise >= 0 && s.Noise <= g.MaxNoise):
		return g, fmt.Errorf("noise = %v is out of range", s.Noise)
	}
	if g.prepareSparse != nil {
		return g, opt.fitsSparse(s.N, s.D, 0)
	}
	return g, opt.fitsDense(s.N, s.D)
}

const syntheticPrefix = "synthetic:"

// ParseSynthetic reads "synthetic:NAME,key=value,...". The keys are n, seed, d
// and noise; what is left out is as NewSynthetic sets it.
func ParseSynthetic(text string) (Synthetic, error) {
	rest, ok := strings.CutPrefix(text, syntheticPrefix)
	if !ok {
		return Synthetic{}, &Error{File: text, Err: fmt.Errorf("does not start with %s", syntheticPrefix)}
	}
	parts := strings.Split(rest, ",")
	s, err := NewSynthetic(parts[0])
	if err != nil {
		return Synthetic{}, err
	}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return Synthetic{}, &Error{File: text, Err: fmt.Errorf("%s is given twice", quote(key))}
		}
		seen[key] = true
		if err := s.set(key, value); err != nil {
			return Synthetic{}, &Error{File: text, Err: err}
		}
	}
	return s, nil
}

func (s *Synthetic) set(key, value string) (err error) {
	switch key {
	case "n":
		s.N, err = strconv.Atoi(value)
	case "d":
		s.D, err = strconv.Atoi(value)
	case "seed":
		s.Seed, err = strconv.ParseUint(value, 10, 64)
	case "noise":
		s.Noise, err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("unknown key %s (n, seed, d, noise)", quote(key))
	}
	if err != nil {
		return fmt.Errorf("%s = %s is not a number that fits", key, quote(value))
	}
	return nil
}
