package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestRows: rows whose labels were turned, and a number that was moved far away, come first; copies of a row
// with another label name each other.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var labels, numbers strings.Builder
	labels.WriteString("a,b,kind\n")
	numbers.WriteString("a,b,size\n")
	turned := map[int]bool{3: true, 11: true, 24: true}
	for i := range 60 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		kind, size := "low", a+0.5*b+0.1*rng.NormFloat64()
		if (a > 0) != turned[i] {
			kind = "up"
		}
		if i == 17 {
			size += 3
		}
		fmt.Fprintf(&labels, "%v,%v,%s\n", a, b, kind)
		fmt.Fprintf(&numbers, "%v,%v,%v\n", a, b, size)
	}
	labels.WriteString("2,2,up\n2,2,low\n")
	r := decoded[report.Rows](t, "rows", write(t, "labels.csv", labels.String()), "--refine 60")
	turned[61] = true
	for _, row := range r.Rows[:3] {
		if !turned[row.Row] || !(row.LabelError > 0.5) || !(row.Influence > 0) || !(row.Value < 0.5) {
			t.Errorf("%+v is among the first", row)
		}
	}
	for _, row := range r.Rows {
		if row.Row == 60 && row.Twin != 61 || row.Row == 61 && row.Twin != 60 || row.Row < 60 &&
			row.Twin == row.Twin {
			t.Errorf("twins: %+v", row)
		}
	}
	path := write(t, "numbers.csv", numbers.String())
	n := decoded[report.Rows](t, "rows", path)
	if first := n.Rows[0]; first.Row != 17 || !(first.Target > first.Predicted+1) || len(n.Rows) != 60 {
		t.Errorf("first %+v", first)
	}
	if text := must(t, "rows", path, "--quiet"); !strings.Contains(text, "The first 15 of 60 rows") {
		t.Error(text)
	}
	if table := must(t, "rows", path, "--csv - --quiet"); !strings.HasPrefix(table,
		"row,name,target,predicted,") {
		t.Error(table)
	}
}
