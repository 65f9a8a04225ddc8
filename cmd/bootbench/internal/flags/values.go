package flags

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

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
