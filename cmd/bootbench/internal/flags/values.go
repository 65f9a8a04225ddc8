package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Size is a number of bytes, 0 where it is not given.
type Size int64

// Set reads a number with a unit: none or B, K, M, G, T with B (powers of 1000)
// or with nothing or iB (powers of 1024), in any case.
func (b *Size) Set(text string) error {
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "kmgtib")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	factor, known := unitOf(strings.TrimSpace(lower[len(digits):]))
	bytes := value * factor
	if err != nil || !known || !(bytes >= 1 && bytes < math.MaxInt64) {
		return fmt.Errorf("%q is not a size such as 500MB or 8GiB", text)
	}
	*b = Size(bytes)
	return nil
}

func unitOf(unit string) (factor float64, known bool) {
	if unit == "" || unit == "b" {
		return 1, true
	}
	power := float64(strings.IndexByte("kmgt", unit[0]) + 1)
	switch unit[1:] {
	case "", "ib":
		return math.Pow(1024, power), power > 0
	case "b":
		return math.Pow(1000, power), power > 0
	}
	return 0, false
}

func (b *Size) String() string { return strconv.FormatInt(int64(*b), 10) }
func (b *Size) Type() string   { return "SIZE" }

// Percent is a share that is given in percent, 0 where it is not given.
type Percent float64

// Set reads "0.5%".
func (p *Percent) Set(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(value > 0 && value < 100) {
		return fmt.Errorf("is %q, must be a percentage above 0%% and below 100%%, such as 0.5%%", text)
	}
	*p = Percent(value / 100)
	return nil
}

func (p *Percent) String() string {
	if *p == 0 {
		return ""
	}
	return Shortest(100*float64(*p)) + "%"
}
func (p *Percent) Type() string { return "percentage" }

// Variance is that of noise: a number in squared units of the target, or a share of its variance in percent.
type Variance struct {
	value   float64
	percent bool
}

var varianceRange = Range{From: 1e-100, To: 1e100}

// Set reads "30" or "10%".
func (v *Variance) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("takes a number, or a share of the target's variance such as 10%%, not %q", text)
	}
	*v = Variance{value, percent}
	return varianceRange.check(value)
}

func (v *Variance) String() string {
	switch {
	case v.percent:
		return Shortest(v.value) + "%"
	case v.value == 0:
		return ""
	}
	return Shortest(v.value)
}
func (v *Variance) Type() string { return "variance" }

// Of is the variance of the noise of targets.
func (v *Variance) Of(y []float64) (float64, error) {
	if !v.percent {
		return v.value, nil
	}
	variance := v.value / 100 * stat.PopVariance(y, nil)
	return variance, varianceRange.Check("noise", variance)
}

// Numbers are a list of finite numbers of a range.
type Numbers struct {
	List []float64
	In   Range
}

// Set reads numbers between commas.
func (l *Numbers) Set(text string) error {
	l.List = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("takes numbers such as 0.5,2, not %q", text)
		}
		if err := l.In.check(v); err != nil {
			return err
		}
		l.List = append(l.List, v)
	}
	return nil
}

func (l *Numbers) String() string {
	texts := make([]string, len(l.List))
	for i, v := range l.List {
		texts[i] = Shortest(v)
	}
	return strings.Join(texts, ",")
}
func (l *Numbers) Type() string { return "numbers" }

// Steps are numbers above 0: a list, or FROM:TO:COUNT in equal factors.
type Steps struct {
	Numbers
	text string
}

// Set reads "a:b:count" or "a,b,c".
func (s *Steps) Set(text string) error {
	s.text, s.In = text, Above(0)
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		return s.Numbers.Set(text)
	}
	const most = 100000
	if len(parts) == 3 {
		from, err1 := strconv.ParseFloat(parts[0], 64)
		to, err2 := strconv.ParseFloat(parts[1], 64)
		count, err3 := strconv.Atoi(parts[2])
		if err1 == nil && err2 == nil && err3 == nil && from > 0 && to > 0 && !math.IsInf(from*to, 0) &&
			count > 1 && count <= most {
			s.List = logSpaced(from, to, count)
			return nil
		}
	}
	return fmt.Errorf("%q is neither FROM:TO:COUNT (0.1:5:20) nor a list (0.5,1,2) of numbers above 0", text)
}

func (s *Steps) String() string { return s.text }

// logSpaced is count values from from to to in equal factors, both ends exact.
func logSpaced(from, to float64, count int) []float64 {
	list := make([]float64, count)
	for i := range list {
		list[i] = from * math.Pow(to/from, float64(i)/float64(count-1))
	}
	list[count-1] = to
	return list
}

// Once is a text that may be given once.
type Once string

// Set takes it, and refuses a second one, which would win without a word.
func (o *Once) Set(text string) error {
	if *o != "" {
		return fmt.Errorf("is given twice: write --target %s,%s for several", *o, text)
	}
	*o = Once(text)
	return nil
}

func (o *Once) String() string { return string(*o) }
func (o *Once) Type() string   { return "string" }

// Count is the value of a flag: a whole number from Least on, or a word that Means another.
type Count struct {
	N, Least int
	Word     string
	Means    int
}

// Set reads either.
func (c *Count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if text == c.Word {
		n = c.Means
	} else if err != nil || n < c.Least {
		return fmt.Errorf("is %q, must be %s or a whole number from %d on", text, c.Word, c.Least)
	}
	c.N = n
	return nil
}

// String is the number or the word; "" for 0 that no word means: none.
func (c *Count) String() string {
	switch {
	case c.N == c.Means:
		return c.Word
	case c.N == 0:
		return ""
	}
	return strconv.Itoa(c.N)
}

// Type is that of a text.
func (c *Count) Type() string { return "string" }
