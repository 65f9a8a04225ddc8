package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// notNumbers are the cures for a column that holds no numbers, %s.
const notNumbers = "ReadOptions.Categorical or ReadOptions.Drop %s"

// decide takes an undecided column for numbers or for texts by the counts of its cells. Numbers beside codes
// of missing values, or beside numbers in another notation, are refused.
func (t *table) decide(c *column) error {
	asked := c.role == asTarget && t.opt.As == Classes // for texts
	switch {
	case c.kind != undecided || !c.role.hasValues():
		return nil
	case c.textual == 0:
		if c.kind = numbers; c.odd != "" {
			v, _ := t.parse(cell{text: c.odd})
			t.note("column %s: %s is read as %v; "+notNumbers+" if it is no number", quote(c.Name),
				quote(c.odd), v, bare(c.Name))
		}
		return c.thousands.check()
	case c.numeric > 0 && !asked && !mixed(t, c):
		return errCodes(t, c)
	case dateLayout(c.texts) == "" && (allMatch(number, c.texts) || !asked && quantities(c.texts)):
		return errNotation(c, c.texts[0])
	}
	c.kind = texts
	for i := range t.rows {
		row := t.row(i)
		if k, ok := unboxed(row[c.at]); ok {
			row[c.at] = float64(k)
		} else if v := row[c.at]; !math.IsNaN(v) {
			row[c.at] = float64(t.number(c, formatNumber(v), place{}))
		}
	}
	return nil
}

// mixed reports whether the numbers among the texts of a column are texts: there are fewer cells with numbers
// and fewer different ones, or most texts occur once, as identifiers do.
func mixed(t *table, c *column) bool {
	different := map[float64]bool{}
	for i := range t.rows {
		if v := t.row(i)[c.at]; !math.IsNaN(v) {
			different[v] = true
		}
	}
	if c.numeric < c.textual && len(different) <= len(c.texts) {
		return true
	}
	return 10*c.textual >= c.numeric && 2*len(c.texts) > c.textual && len(c.texts) >= fewRows &&
		!slices.ContainsFunc(c.texts, func(s string) bool { return !unicode.IsLetter([]rune(s)[0]) })
}

// errCodes refuses the texts of a column of numbers.
func errCodes(t *table, c *column) error {
	if k := slices.IndexFunc(c.texts, number.MatchString); k >= 0 || quantities(c.texts) {
		return c.first[max(0, k)].error(c.Name, errNotation(c, c.texts[max(0, k)]))
	}
	const most = 3
	codes, more := strings.Join(c.texts[:min(most, len(c.texts))], ","), ""
	if len(c.texts) > most {
		more = ",..."
	}
	return c.first[0].error(c.Name, fmt.Errorf("%s is not a number, as %d of the %d cells are: "+
		"ReadOptions.NA %s%s with ReadOptions.Missing drop, mean or indicator if that stands for no value; "+
		"else "+notNumbers, quote(c.texts[0]), c.numeric, c.numeric+c.textual, bare(codes), more,
		bare(c.Name)))
}

func errNotation(c *column, text string) error {
	return fmt.Errorf("%s and others are no numbers as they are written (thousands, per cent, currency, "+
		"unit, time of day, commas beside points): write plain numbers, in one unit, or "+notNumbers,
		quote(text), bare(c.Name))
}

// Parts of notations of numbers, in any script: digits, units of money, and what precedes the digits.
const (
	amount   = `[-+−–]?\p{Nd}[\p{Nd}.,٫．，'\x{a0}]*`
	currency = `(?:[A-Z]{0,2}\p{Sc}|USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|SEK|NOK|DKK|PLN|BRL|KRW|Rs\.?|kr\.?)`
	before   = `^[<>~≈ ]*(?:` + currency + ` ?)?`
)

var (
	// number matches digits with the signs of numbers.
	number = regexp.MustCompile(`^[-+−–]*[+.,'%\p{Sc} \x{a0}．，]*\p{Nd}` +
		`[+\p{Nd}.,٫．，'%\p{Sc} \x{a0}]*$`)
	// clock matches times of day and durations; common a number with a unit, or none; measure with any.
	clock  = regexp.MustCompile(`^(?i:\d+([:h]\d\d){1,2}([.,]\d+)?( ?[ap]\.?m\.?|m|s)?)$`)
	common = regexp.MustCompile(before + amount + ` ?(?:[kmcµμn]?[gmlL]|lbs?|oz|ft|in|mi|h|hrs?|s|secs?|` +
		`ms|[kKM]|[kKMGT]B|bn|(?i:(hour|day|week|month|year)s?|min(ute)?s?|yrs?))?$`)
	measure = regexp.MustCompile(before + amount + ` ?[\p{L}°%'"′″]{0,6}$`)
	// amounts are the numbers in a text, of which framed has a # in their place.
	amounts  = regexp.MustCompile(`(^|[^\p{L}\p{Nd}^]|` + currency + `)` + amount)
	framed   = regexp.MustCompile(`^[<>~≈ ]*(?:` + currency + ` ?#|# ?[\p{L}°'"′″])`)
	worded   = regexp.MustCompile(`^\p{L}+([.:=]| [=:]? ?)#`)
	fraction = regexp.MustCompile(`\p{Nd}[.,٫．，]\p{Nd}`)
)

func allMatch(pattern *regexp.Regexp, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !pattern.MatchString(text) })
}

// quantities reports whether texts are at least three times of day or numbers with units: the words beside
// the numbers are the same everywhere, as in "5.3 kg", "USD 286" and "1 h 30 min", or units are common ones,
// or numbers have decimals. Codes such as 2020Q1, v1.2, 3a, 3b and room 5 are none.
func quantities(texts []string) bool {
	switch frame := func(text string) string { return amounts.ReplaceAllString(text, "$1#") }; {
	case len(texts) < 3:
		return false
	case allMatch(clock, texts) || allMatch(common, texts):
		return true
	case slices.ContainsFunc(texts, func(text string) bool { return frame(text) != frame(texts[0]) }):
		return allMatch(measure, texts) && slices.ContainsFunc(texts, fraction.MatchString)
	default:
		return framed.MatchString(frame(texts[0])) || worded.MatchString(frame(texts[0])) &&
			slices.ContainsFunc(texts, fraction.MatchString)
	}
}

// thousands finds numbers of a column that may have separators of thousands: all numbers with a point, or a
// comma, have one to three digits before it and three after it, and the others are whole and less than 1000.
type thousands struct {
	none           bool // there is another number
	whole, grouped string
}

func (t *thousands) add(text string) {
	if t.none {
		return
	}
	before, after, split := strings.Cut(strings.Replace(strings.TrimLeft(text, "+-"), ",", ".", 1), ".")
	digits := strings.Trim(before+after, "0123456789") == ""
	switch {
	case !digits || before == "" || len(before) > 3 || split && (len(after) != 3 || before[0] == '0'):
		t.none = true
	case split && t.grouped == "":
		t.grouped = strings.Clone(text)
	case !split && t.whole == "":
		t.whole = strings.Clone(text)
	}
}

func (t *thousands) check() error {
	if t.none || t.whole == "" || t.grouped == "" {
		return nil
	}
	sign := t.grouped[strings.IndexAny(t.grouped, ".,"):][:1]
	plain := strings.Replace(t.grouped, sign, "", 1)
	return fmt.Errorf("%s beside %s may be %s, by a separator of thousands, or a decimal number: write "+
		"%[3]s, or all with decimals, as %s%s000", quote(t.grouped), quote(t.whole), plain, t.whole, sign)
}

// dateLayouts are the layouts of dates (package time); the first that fits a whole column is taken.
var dateLayouts = []string{"2006-1-2", "2006/1/2", "2.1.2006", "1/2/2006", "2/1/2006", "2-1-2006",
	"2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2-Jan-2006", "2006-1",
	time.RFC3339, "2006-1-2T15:4:5", "2006-1-2 15:4:5", "2006-1-2 15:4:5Z07:00", "2006-1-2 15:4",
	"2006-1-2T15:4", "2006/1/2 15:4:5", "2006/1/2 15:4", "2.1.2006 15:4:5", "2.1.2006 15:4",
	"1/2/2006 15:4:5", "1/2/2006 15:4", "2/1/2006 15:4:5", "2/1/2006 15:4"}

// dateLayout is the layout of texts if all are dates, else "".
func dateLayout(texts []string) string {
	for _, layout := range dateLayouts {
		if len(texts) > 0 && allDates(layout, texts) {
			return layout
		}
	}
	return ""
}

func allDates(layout string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		_, err := time.Parse(layout, text)
		return err != nil
	})
}

// layoutText describes a layout, and any other that fits the texts as well.
func layoutText(layout string, texts []string) string {
	signs := strings.NewReplacer("2006", "year", "January", "month", "Jan", "month", "15", "hour",
		"07:00", "zone", "01", "month", "02", "day", "04", "minute", "05", "second", "1", "month", "2", "day",
		"4", "minute", "5", "second", "Z", " ", "T", " ")
	text := signs.Replace(layout)
	if rest, monthFirst := strings.CutPrefix(layout, "1/2"); monthFirst && allDates("2/1"+rest, texts) {
		text += ", though day/month fits, too"
	}
	return text
}

// dateParts names the features of a date in a layout, for trend, season and week.
func dateParts(layout string) []string {
	parts := []string{"year", "month", "weekday", "days"}
	if strings.Contains(layout, "15") {
		parts = append(parts, "hour")
	}
	return parts
}

// dateFeatures are the values of dateParts: Monday is 1 and Sunday 7, days count from 1970-01-01.
func dateFeatures(layout, text string) ([]float64, error) {
	at, err := time.Parse(layout, text)
	if err != nil {
		return nil, fmt.Errorf("%s is no date as those of the training set are (%s): write dates of both "+
			"files as year-month-day", quote(text), layoutText(layout, nil))
	}
	hours := float64(at.Hour()) + float64(at.Minute())/60
	weekday := float64((at.Weekday()+6)%7) + 1
	return []float64{float64(at.Year()), float64(at.Month()), weekday, float64(at.Unix()) / 86400,
		hours}[:len(dateParts(layout))], nil
}
