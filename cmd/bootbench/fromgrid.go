package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
	"bootbench/report"
)

// startFromGrid sets the flags that are not given to the best cell of --from-grid.
func (t *tuneFlags) startFromGrid(set *dataset.Set) error {
	if t.grid == "" {
		return nil
	}
	content, err := os.ReadFile(t.grid)
	if err != nil {
		return usage.Errorf("--from-grid: %w", err)
	}
	var values map[string]string
	if trimmed := bytes.TrimSpace(content); len(trimmed) > 0 && trimmed[0] == '{' {
		values, err = gridDocumentBest(content, set)
	} else {
		values, err = gridTableBest(content)
	}
	if err != nil {
		return usage.Errorf("--from-grid: %s %w", t.grid, err)
	}
	for _, name := range append([]string{"loss"}, gridNames()...) {
		value, there := values[name]
		if !there || t.model.given(name) || name == "gamma" && t.model.given("length-scale") ||
			name == "length-scale" && t.model.given("gamma") {
			continue
		}
		if err := t.model.flags.Set(name, value); err != nil {
			return usage.Errorf("--from-grid: %s: --%s: %w", t.grid, name, err)
		}
	}
	return nil
}

// gridDocumentBest are the loss and the values of the best cell of grid's JSON document.
func gridDocumentBest(content []byte, set *dataset.Set) (map[string]string, error) {
	var g report.Grid
	switch err := json.Unmarshal(content, &g); {
	case err != nil || g.Command != "grid":
		return nil, usage.Errorf("is no answer of grid")
	case g.N != set.N() || g.D != set.D():
		return nil, usage.Errorf("is of other data: %s with %d examples of %d features, where %s has %d of %d",
			g.Data, g.N, g.D, set.Name, set.N(), set.D())
	case g.Best == nil || *g.Best < 0 || *g.Best >= len(g.Results) ||
		len(g.Results[*g.Best].Values) != len(g.Over):
		return nil, usage.Errorf("has no best cell: none has converged")
	}
	best := &g.Results[*g.Best]
	values := map[string]string{}
	if best.Estimate != nil {
		values["loss"] = best.Estimate.Loss
	}
	for k, axis := range g.Over {
		values[axis.Name] = best.Values[k]
	}
	return values, nil
}

// gridTableBest are the values of the line of grid.csv with the least objective, or where it has
// none with the least left-out error, of those that have converged.
func gridTableBest(content []byte) (map[string]string, error) {
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(rows) == 0 || slices.Index(rows[0], "test_error") < 0 ||
		slices.Index(rows[0], "status") < 0 {
		return nil, usage.Errorf("is neither a JSON document nor the table of grid")
	}
	head := rows[0]
	by, status := slices.Index(head, "objective"), slices.Index(head, "status")
	if by < 0 {
		by = slices.Index(head, "test_error")
	}
	least := math.Inf(1)
	var values map[string]string
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[by], 64)
		if err != nil || row[status] != "converged" || !(v < least) {
			continue
		}
		least, values = v, map[string]string{}
		for k, name := range head {
			if slices.Contains(gridNames(), name) {
				values[name] = row[k]
			}
		}
	}
	if values == nil {
		return nil, usage.Errorf("has no best cell: none has converged")
	}
	return values, nil
}
