package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"bootbench/linalg"
)

// Generator describes a synthetic generator. The random numbers are PCG; "u in [a,b)" is uniform, N(m, v)
// Gaussian.
type Generator struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Task  string `json:"task"` // regression or classification
	// D, Noise and Tilt are the defaults, MinD and MaxNoise the limits. Only text has a Tilt.
	D        int     `json:"d"`
	MinD     int     `json:"-"`
	Noise    float64 `json:"noise"`
	MaxNoise float64 `json:"-"`
	Tilt     float64 `json:"tilt,omitempty"`

	sparse  bool // most features are zero
	prepare func(rng *rand.Rand, s *synthetic) drawFunc
}

// drawFunc draws one example: it fills x, which is zero, and returns the target.
type drawFunc func(rng *rand.Rand, x []float64, noise float64) float64

// plain is a prepare function without preparation.
func plain(draw drawFunc) func(*rand.Rand, *synthetic) drawFunc {
	return func(*rand.Rand, *synthetic) drawFunc { return draw }
}

// Generators lists the synthetic sets.
func Generators() []Generator {
	const unbounded = 1e9
	return []Generator{
		{"friedman1", "five of d uniform inputs matter, Friedman 1991", "regression", 10, 5, 1, unbounded, 0,
			false, plain(friedman1)},
		{"waves", "smooth function: sum of 64 random cosines", "regression", 4, 1, 0.1, unbounded, 0, false,
			waves},
		{"grid", "inputs on 5 levels each, so most repeat", "regression", 3, 1, 0.5, unbounded, 0, false,
			plain(grid)},
		{"blobs", "two overlapping Gaussian classes", "classification", 2, 1, 1, unbounded, 0, false,
			plain(blobs)},
		{"rings", "a class around the other", "classification", 2, 2, 0.3, unbounded, 0, false, plain(rings)},
		{"checker", "checkerboard of 4 x 4 fields, some labels flipped", "classification", 2, 1, 0.05, 0.5, 0,
			false, plain(checker)},
		{"text", "documents of two topics, Zipf word counts, tf-idf, sparse", "classification", 5000, 100,
			0.4, 10, 0.3, true, text},
	}
}

// friedman1: x_j in [0,1),
//
//	y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise N(0,1).
//
// The remaining d-5 features are irrelevant. J. H. Friedman, Multivariate adaptive regression splines, Annals
// of Statistics 19 (1991).
func friedman1(rng *rand.Rand, x []float64, noise float64) float64 {
	for j := range x {
		x[j] = rng.Float64()
	}
	f := 10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4]
	return f + noise*rng.NormFloat64()
}

// waves: x ~ N(0, I_d) and, with M = 64,
//
//	y = sqrt(2/M) sum_m cos(w_m'x + b_m) + noise N(0,1),
//
// where w_m ~ N(0, I_d/d) and b_m in [0, 2 pi) are drawn once per seed. Over seeds, f is approximately a
// Gaussian process with kernel exp(-|x-x'|^2/(2d)): these are its random Fourier features (Rahimi and Recht,
// NIPS 2007).
func waves(rng *rand.Rand, s *synthetic) drawFunc {
	const count = 64
	d := s.D
	w := linalg.NewMatrix(count, d)
	b := make([]float64, count)
	for m := range count {
		for j := range d {
			w.Row(m)[j] = rng.NormFloat64() / math.Sqrt(float64(d))
		}
		b[m] = 2 * math.Pi * rng.Float64()
	}
	return func(rng *rand.Rand, x []float64, noise float64) float64 {
		drawNormal(rng, x)
		f := 0.0
		for m := range count {
			f += math.Cos(dot(w.Row(m), x) + b[m])
		}
		return math.Sqrt(2.0/count)*f + noise*rng.NormFloat64()
	}
}

// grid: x_j in {0, 1, 2, 3, 4} with equal probability, so that there are at most 5^d distinct inputs, and
// y = sum_j cos(pi x_j/4) + noise N(0,1).
func grid(rng *rand.Rand, x []float64, noise float64) float64 {
	f := 0.0
	for j := range x {
		x[j] = float64(rng.IntN(5))
		f += math.Cos(math.Pi * x[j] / 4)
	}
	return f + noise*rng.NormFloat64()
}

// blobs: y = -1 or +1 with equal probability and x = y e/sqrt(d) + noise N(0, I), where e is the vector of
// ones: the centres lie at distance 2. The best possible error is Phi(-1/noise), 15.9% at noise 1.
func blobs(rng *rand.Rand, x []float64, noise float64) float64 {
	y := drawLabel(rng)
	for j := range x {
		x[j] = y/math.Sqrt(float64(len(x))) + noise*rng.NormFloat64()
	}
	return y
}

// rings: y = -1 or +1 with equal probability; x is uniform on the sphere of radius 1 (label -1) or 2
// (label +1), plus noise N(0, I).
func rings(rng *rand.Rand, x []float64, noise float64) float64 {
	y := drawLabel(rng)
	drawNormal(rng, x)
	scale := (1.5 + 0.5*y) / math.Sqrt(dot(x, x))
	for j := range x {
		x[j] = scale*x[j] + noise*rng.NormFloat64()
	}
	return y
}

// checker: x_j in [0,4), y = +1 where the sum of the whole parts of all x_j is even, else -1; a label is
// flipped with probability noise <= 1/2.
func checker(rng *rand.Rand, x []float64, noise float64) float64 {
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

func drawLabel(rng *rand.Rand) float64 { return float64(2*rng.IntN(2) - 1) }

func drawNormal(rng *rand.Rand, x []float64) {
	for j := range x {
		x[j] = rng.NormFloat64()
	}
}

func dot(a, b []float64) (sum float64) {
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// synthetic specifies a generated data set. Examples are drawn one after the other from one stream of random
// numbers, so the first n examples of a larger draw are the draw of n examples.
type synthetic struct {
	Generator
	n    int
	seed uint64
}

const syntheticPrefix = "synthetic:"

// generate draws the set "synthetic:NAME,key=value,...". The keys are n (default 1000), seed (1), d, noise
// and, of text, tilt (the generator's). Options.MaxBytes bounds the size.
func generate(text string, opt Options) (set *Set, err error) {
	s, err := parseSynthetic(strings.TrimPrefix(text, syntheticPrefix))
	if err == nil {
		set, err = s.draw(opt.complete())
	}
	if err != nil {
		return nil, &Error{File: text, Err: err}
	}
	return set, nil
}

func parseSynthetic(text string) (s synthetic, err error) {
	parts := strings.Split(text, ",")
	var names []string
	for _, g := range Generators() {
		if names = append(names, g.Name); g.Name == parts[0] {
			s = synthetic{g, 1000, 1}
		}
	}
	if s.Name == "" {
		return s, fmt.Errorf("no generator %s (%s)", quote(parts[0]), strings.Join(names, ", "))
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "n":
			s.n, err = strconv.Atoi(value)
		case "d":
			s.D, err = strconv.Atoi(value)
		case "seed":
			s.seed, err = strconv.ParseUint(value, 10, 64)
		case "noise":
			s.Noise, err = strconv.ParseFloat(value, 64)
		case "tilt":
			s.Tilt, err = strconv.ParseFloat(value, 64)
		default:
			return s, fmt.Errorf("unknown key %s (n, seed, d, noise, tilt)", quote(key))
		}
		if err != nil {
			return s, fmt.Errorf("%s = %s is not a number that fits", key, quote(value))
		}
	}
	switch {
	case s.n < 1:
		return s, fmt.Errorf("n = %d: at least 1 is needed", s.n)
	case s.D < s.MinD:
		return s, fmt.Errorf("d = %d: %s needs at least %d", s.D, s.Name, s.MinD)
	case !(s.Noise >= 0 && s.Noise <= s.MaxNoise):
		return s, fmt.Errorf("noise = %v is out of range", s.Noise)
	case s.Tilt != 0 && s.Name != "text":
		return s, fmt.Errorf("%s has no tilt, text has one", s.Name)
	case !(s.Tilt >= 0 && s.Tilt <= maxTilt):
		return s, fmt.Errorf("tilt = %v: take 0 to %v", s.Tilt, maxTilt)
	}
	return s, nil
}

// draw draws the examples, sparse ones while they fit into memory.
func (s synthetic) draw(opt Options) (*Set, error) {
	const stream = 0x626f6f7462656e63 // any constant
	rng := rand.New(rand.NewPCG(s.seed, stream))
	err := opt.fitsDense(s.n, s.D)
	if s.sparse {
		err = opt.fitsSparse(s.n, s.D, 0)
	}
	if err != nil {
		return nil, err
	}
	set, y := &Set{Source: "generated: " + s.About}, make([]float64, s.n)
	set.Name = fmt.Sprintf("%s%s,n=%d,seed=%d,d=%d,noise=%v", syntheticPrefix, s.Name, s.n, s.seed, s.D,
		s.Noise)
	if s.Name == "text" {
		set.Name += fmt.Sprintf(",tilt=%v", s.Tilt)
	}
	// Sparse examples are drawn into one row and gathered.
	draw, x := s.prepare(rng, &s), linalg.NewMatrix(1, s.D)
	if s.sparse {
		set.Sparse = linalg.NewCSR(linalg.NewMatrix(0, s.D))
	} else {
		x = linalg.NewMatrix(s.n, s.D)
		set.X, set.Features = x, numbered("x", s.D)
	}
	for i := range y {
		row := x.Row(i % x.Rows)
		y[i] = draw(rng, row, s.Noise)
		if s.sparse {
			set.Sparse.Append(row)
			clear(row)
			if err := opt.fitsSparse(i+1, s.D, len(set.Sparse.Index)); err != nil {
				return nil, err
			}
		}
	}
	set.Columns = []Column{Column{Name: "y", Y: y}.guessed()}
	return set, nil
}
