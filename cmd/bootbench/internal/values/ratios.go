package values

import (
	"math"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
)

// Ratios reads "a:b:count", count ratios from a to b in equal factors, or a
// list "a,b,c".
func Ratios(text string) ([]float64, error) {
	bad := func() ([]float64, error) {
		return nil, usage.Errorf(
			"--ratio %q is neither FROM:TO:COUNT (0.1:5:20) nor a list (0.5,1,2) of numbers above 0", text)
	}
	parts := strings.Split(text, ":")
	if len(parts) != 1 && len(parts) != 3 {
		return bad()
	}
	if len(parts) == 3 {
		from, err1 := strconv.ParseFloat(parts[0], 64)
		to, err2 := strconv.ParseFloat(parts[1], 64)
		count, err3 := strconv.Atoi(parts[2])
		const most = 100000
		if err1 != nil || err2 != nil || err3 != nil || !(from > 0 && to > 0) || math.IsInf(from*to, 0) ||
			count < 2 || count > most {
			return bad()
		}
		return logSpaced(from, to, count), nil
	}
	var list []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return bad()
		}
		list = append(list, v)
	}
	return list, nil
}

// logSpaced is count values from from to to in equal factors, both ends exact.
func logSpaced(from, to float64, count int) []float64 {
	list := make([]float64, count)
	for i := range list {
		list[i] = from * math.Pow(to/from, float64(i)/float64(count-1))
	}
	list[count-1] = to
	return list
}
