// Package flags declares the flags of commands, in groups: the range of values, the default and a line of
// help of each. Invalid values are refused when the command line is read.
package flags

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/stat"
)

// Set is the flags of a command.
type Set struct {
	*pflag.FlagSet
	help   Help
	wanted []string // nil: all
	group  string   // of the flags added next
}

// New declares flags in a set of cobra's: only the wanted ones are added, nil for all.
func New(f *pflag.FlagSet, help Help, wanted []string) *Set {
	f.SortFlags = false
	return &Set{FlagSet: f, help: help, wanted: wanted}
}

// Help is the line of help of each flag, with its value in `backquotes`.
type Help map[string]string

// ReadHelp reads a page of names of flags, each followed by indented lines of help.
func ReadHelp(page string) Help {
	help, name := Help{}, ""
	for line := range strings.Lines(page) {
		if words := strings.TrimSpace(line); !strings.HasPrefix(line, " ") {
			name = words
		} else {
			help[name] = strings.TrimSpace(help[name] + " " + words)
		}
	}
	return help
}

// ReadNames reads a page of lists of names, "LIST: NAME...", which indented lines continue: +LIST stands for
// the names of a list above, and -NAME takes one out.
func ReadNames(page string) map[string][]string {
	lists := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(page, "\n  ", " ")) {
		list, words, _ := strings.Cut(line, ":")
		for word := range strings.FieldsSeq(words) {
			switch name := word[1:]; word[0] {
			case '+':
				lists[list] = append(lists[list], lists[name]...)
			case '-':
				lists[list] = slices.DeleteFunc(lists[list], func(of string) bool { return of == name })
			default:
				lists[list] = append(lists[list], word)
			}
		}
	}
	return lists
}

// Group begins a group of flags.
func (s *Set) Group(title string) { s.group = title }

// Given reports whether any of these flags is on the command line.
func (s *Set) Given(names ...string) bool { return slices.ContainsFunc(names, s.Changed) }

// Settings are the given flags that are wanted, as NAME=VALUE, for each element of a list.
func (s *Set) Settings(wanted func(name string) bool) (given []string) {
	s.VisitAll(func(f *pflag.Flag) {
		if !f.Changed || !wanted(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if f.Value.Type() == "stringSlice" && strings.ContainsAny(v, ",\"") { // parsed as CSV
				v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
			}
			given = append(given, f.Name+"="+v)
		}
	})
	return given
}

// groupKey is the key of a flag's group in its annotations.
const groupKey = "group"

// Add adds a flag to the group, if it is wanted. The part of key after "/" only selects the help.
func (s *Set) Add(key string, add func(name, help string)) {
	if s.wanted != nil && !slices.Contains(s.wanted, key) {
		return
	}
	if s.help[key] == "" {
		panic("there is no help on --" + key)
	}
	name, _, _ := strings.Cut(key, "/")
	add(name, s.help[key])
	s.Lookup(name).Annotations = map[string][]string{groupKey: {s.group}}
}

// Default changes the default of a flag.
func (s *Set) Default(name, value string) {
	f := s.Lookup(name)
	f.DefValue = value
	f.Value.Set(value)
}

// Hide leaves a flag out of the help, if the command has it.
func (s *Set) Hide(name string) {
	if f := s.Lookup(name); f != nil {
		f.Hidden = true
	}
}

// Reader parses the text of a flag, and returns the recorded form. Its errors continue a sentence that begins
// with the name of the flag.
type Reader func(text string) (recorded string, err error)

// value is a flag with a Reader, and its recorded text. The default of kind "string" is printed in quotes.
type value struct {
	text, kind string
	read       Reader
}

func (v *value) Set(text string) (err error) {
	v.text, err = v.read(text)
	return err
}
func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }

// Value adds a flag with a Reader; a default of "" is none.
func (s *Set) Value(name, byDefault string, read Reader) {
	s.Add(name, func(name, help string) {
		v := &value{kind: "string", read: read}
		if byDefault != "" {
			v.Set(byDefault)
		}
		s.Var(v, name, help)
	})
}

// Steps adds a flag of numbers above 0: see ReadSteps.
func (s *Set) Steps(to *[]float64, name string) {
	s.Add(name, func(name, help string) { s.Var(&value{kind: "numbers", read: ReadSteps(to)}, name, help) })
}

// Text adds a flag of any text.
func (s *Set) Text(to *string, name string) {
	s.Value(name, "", func(text string) (string, error) { *to = text; return text, nil })
}

// Once adds a flag of any text, which may be given only once: a second text would silently replace the first.
func (s *Set) Once(to *string, name string) {
	s.Value(name, "", func(text string) (string, error) {
		if *to != "" {
			return *to, fmt.Errorf("is given twice: write --%s %s,%s for several", name, *to, text)
		}
		*to = text
		return text, nil
	})
}

// ErrTwice refuses another value of a flag: it would silently replace the first.
var ErrTwice = errors.New("is given twice: give it once")

// single is the value of a flag that may have only one.
type single struct {
	pflag.Value
	flag *pflag.Flag
}

func (s single) Set(text string) error {
	first := s.Value.String()
	if err := s.Value.Set(text); err != nil || !s.flag.Changed || s.Value.String() == first {
		return err
	}
	return ErrTwice
}

// RefuseTwice refuses a second, other value of all flags except lists.
func RefuseTwice(f *pflag.FlagSet) {
	f.VisitAll(func(flag *pflag.Flag) {
		if _, list := flag.Value.(pflag.SliceValue); !list {
			flag.Value = single{flag.Value, flag}
		}
	})
}

// Choice adds a flag of one of several words.
func (s *Set) Choice(to *string, name string, of []string, byDefault string) {
	s.choice(name, of, byDefault, func(at int) { *to = of[at] })
}

// Named takes the name of one of several values.
func Named[T fmt.Stringer](s *Set, to *T, name string, of []T, byDefault T) {
	var names []string
	for _, v := range of {
		names = append(names, v.String())
	}
	s.choice(name, names, byDefault.String(), func(at int) { *to = of[at] })
}

func (s *Set) choice(name string, of []string, byDefault string, choose func(at int)) {
	s.Value(name, byDefault, func(text string) (string, error) {
		at := slices.Index(of, text)
		if at < 0 {
			return "", fmt.Errorf("%q is not available (there is %s)", text, strings.Join(of, ", "))
		}
		choose(at)
		return text, nil
	})
}

// Switch adds a boolean flag.
func (s *Set) Switch(to *bool, name string) {
	s.Add(name, func(name, help string) { s.BoolVar(to, name, false, help) })
}

// List adds a flag of texts separated by commas.
func (s *Set) List(to *[]string, name string) {
	s.Add(name, func(name, help string) { s.StringSliceVar(to, name, nil, help) })
}

// Number adds a flag of a number in a range.
func (s *Set) Number(to *float64, name string, byDefault float64, in Range) {
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	number(s, to, name, byDefault, in, "number", parse)
}

// Whole adds a flag of a whole number in a range.
func (s *Set) Whole(to *int, name string, byDefault int, in Range) {
	number(s, to, name, byDefault, in, "whole number", strconv.Atoi)
}

func number[N int | float64](s *Set, to *N, name string, byDefault N, in Range, what string,
	parse func(string) (N, error)) {
	s.Add(name, func(name, help string) {
		*to = byDefault
		read := func(text string) (_ string, err error) {
			if *to, err = parse(text); err != nil {
				return "", fmt.Errorf("takes a %s, not %q", what, text)
			}
			return fmt.Sprint(*to), in.check(float64(*to))
		}
		s.Var(&value{fmt.Sprint(byDefault), fmt.Sprintf("%T", byDefault), read}, name, in.within(help))
	})
}

// Range is an interval of numbers; Open excludes the ends.
type Range struct {
	From, To float64
	Open     bool
}

// Above and Inside are open ranges, Above and AtLeast have no upper end.
func Above(from float64) Range      { return Range{from, math.Inf(1), true} }
func AtLeast(from float64) Range    { return Range{From: from, To: math.Inf(1)} }
func Inside(from, to float64) Range { return Range{from, to, true} }

// String is the range in words.
func (r Range) String() string {
	switch {
	case math.IsInf(r.To, 1) && r.Open:
		return fmt.Sprintf("above %v", r.From)
	case math.IsInf(r.To, 1):
		return fmt.Sprintf("at least %v", r.From)
	}
	return fmt.Sprintf("between %v and %v", r.From, r.To)
}

// within is a line of help with the range before the default.
func (r Range) within(help string) string {
	before, after, found := strings.Cut(help, "; default")
	if found {
		after = "; default" + after
	}
	return before + ", " + r.String() + after
}

// check refuses NaN and numbers outside the range.
func (r Range) check(v float64) error {
	inside := v >= r.From && v <= r.To && !math.IsInf(v, 0)
	if r.Open {
		inside = v > r.From && v < r.To
	}
	if !inside {
		return fmt.Errorf("is %v, must be %v", v, r)
	}
	return nil
}

// Check refuses the value of a flag outside the range.
func (r Range) Check(name string, v float64) error {
	if err := r.check(v); err != nil {
		return fmt.Errorf("--%s %w", name, err)
	}
	return nil
}

// Bytes reads a number with a unit: none or B, K, M, G, T with B (powers of 1000) or with nothing or iB
// (powers of 1024), in upper or lower case.
func Bytes(to *int64) Reader {
	return func(text string) (string, error) {
		parts := size.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
		if parts == nil {
			parts = make([]string, 4)
		}
		base := 1024.0
		if parts[3] == "b" {
			base = 1000
		}
		number, err := strconv.ParseFloat(parts[1], 64)
		bytes := number * math.Pow(base, float64(strings.Index("?kmgt", parts[2])))
		if err != nil || !(bytes >= 1 && bytes < math.MaxInt64) {
			return "", fmt.Errorf("%q is not a size such as 500MB or 8GiB", text)
		}
		*to = int64(bytes)
		return fmt.Sprint(*to), nil
	}
}

// size is a number, K, M, G or T, and the rest of the unit.
var size = regexp.MustCompile(`^(\S*?)\s*(?:b|([kmgt])(b|ib)?)?$`)

// Percentage reads a fraction in percent, such as 0.5%.
func Percentage(to *float64) Reader {
	return func(text string) (string, error) {
		number, ok := strings.CutSuffix(text, "%")
		value, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(value > 0 && value < 100) {
			return "", fmt.Errorf("is %q, must be a percentage above 0%% and below 100%%, such as 0.5%%",
				text)
		}
		*to = value / 100
		return Shortest(value) + "%", nil
	}
}

// Variance is a variance of noise: a number in squared units of the target, or a percentage of its variance.
type Variance struct {
	value   float64
	Percent bool // of the target's variance
}

var varianceRange = Range{From: 1e-100, To: 1e100}

// Read is a Reader of "30" or "10%".
func (v *Variance) Read(text string) (string, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return "", fmt.Errorf("takes a number, or a share of the target's variance such as 10%%, not %q",
			text)
	}
	*v = Variance{value, percent}
	return Shortest(value) + text[len(number):], varianceRange.check(value)
}

// Of is the variance of the noise of targets with weights, nil for 1.
func (v *Variance) Of(y, weights []float64) (float64, error) {
	if !v.Percent {
		return v.value, nil
	}
	variance := v.value / 100 * stat.PopVariance(y, weights)
	return variance, varianceRange.Check("noise", variance)
}

// Numbers reads finite numbers in a range, separated by commas.
func Numbers(to *[]float64, in Range) Reader {
	return func(text string) (string, error) {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil {
				return "", fmt.Errorf("takes numbers such as 0.5,2, not %q", text)
			}
			if err := in.check(v); err != nil {
				return "", err
			}
			*to = append(*to, v)
		}
		return Join(*to), nil
	}
}

// Join formats numbers with all digits, separated by commas.
func Join(list []float64) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = Shortest(v)
	}
	return strings.Join(texts, ",")
}

// Shortest formats a number with all digits.
func Shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ReadSteps reads numbers above 0: a list, or FROM:TO:COUNT with equal ratios and exact ends.
func ReadSteps(to *[]float64) Reader {
	return func(text string) (string, error) {
		parts := strings.Split(text, ":")
		if len(parts) == 1 {
			return Numbers(to, Above(0))(text)
		}
		const most = 100000
		if len(parts) == 3 {
			first, err1 := strconv.ParseFloat(parts[0], 64)
			last, err2 := strconv.ParseFloat(parts[1], 64)
			count, err3 := strconv.Atoi(parts[2])
			if err1 == nil && err2 == nil && err3 == nil && first > 0 && last > 0 &&
				!math.IsInf(first*last, 0) && count > 1 && count <= most {
				*to = make([]float64, count)
				for i := range *to {
					(*to)[i] = first * math.Pow(last/first, float64(i)/float64(count-1))
				}
				(*to)[count-1] = last
				return text, nil
			}
		}
		return "",
			fmt.Errorf("%q is neither FROM:TO:COUNT (0.1:5:20) nor a list (0.5,1,2) of numbers above 0", text)
	}
}

// Count is a whole number, or the word that a flag takes in its place. The zero value means neither.
type Count struct {
	Number int
	Word   bool
}

// WholeOr reads a whole number >= least, or a word.
func WholeOr(to *Count, least int, word string) Reader {
	return func(text string) (string, error) {
		n, err := strconv.Atoi(text)
		if text != word && (err != nil || n < least) {
			return "", fmt.Errorf("is %q, must be %s or a whole number from %d on", text, word, least)
		}
		*to = Count{n, text == word}
		return text, nil
	}
}
