// Package flags declares the flags of commands, in groups: the range of values, the default and a line of
// help of each. Invalid values are refused when the command line is read.
package flags

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
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
