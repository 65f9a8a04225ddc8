package dataset

import (
	"embed"
	"slices"
	"strings"
)

//go:embed embedded/*.csv
var embedded embed.FS

// origins lists the embedded sets; embedded/README.md holds the details.
var origins = []struct{ name, source string }{
	{"boston", "Boston housing, Harrison & Rubinfeld 1978 (R package MASS)"},
	{"crabs", "Leptograpsus crabs, sex from five measures, Campbell & Mahon 1974 (R package MASS)"},
	{"crabs_sp", "crabs with the colour form as sixth feature (R package MASS)"},
	{"wisconsin", "Wisconsin breast cancer, Wolberg 1992 (R package mlbench)"},
	{"sonar", "sonar returns of mines and rocks, Gorman & Sejnowski 1988 (R package mlbench)"},
	{"pima", "diabetes among Pima women, Smith et al. 1988, Ripley 1996 (R package MASS)"},
	{"iris", "iris species from four lengths, Anderson 1935, Fisher 1936"},
}

// Names lists the embedded sets.
func Names() []string {
	var names []string
	for _, o := range origins {
		names = append(names, o.name)
	}
	return names
}

// Open returns an embedded set. The caller owns it.
func Open(name string) (*Set, error) {
	k := slices.Index(Names(), name)
	if k < 0 {
		return nil, errorIn(name, "no such embedded set (%s)", strings.Join(Names(), ", "))
	}
	f, err := embedded.Open("embedded/" + name + ".csv")
	if err != nil {
		return nil, inFile(name, err)
	}
	s, err := readFiles(name, []*source{{name: name, text: newText(f)}}, Options{MaxBytes: leastLimit}, nil)
	if err != nil {
		return nil, err
	}
	s.Source = origins[k].source
	return s, nil
}
