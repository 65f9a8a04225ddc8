package dataset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFeatureColumns: a column of texts has all its indicators; without it they tell nothing, and other
// columns keep their values. Permuted, rows keep whole values, and groups that have one value each keep one.
func TestFeatureColumns(t *testing.T) {
	text := "a,kind,site,b,y\n"
	for i := range 12 {
		text += strings.Join([]string{[]string{"1.5", "2", "3"}[i%3], []string{"ash", "elm", "oak"}[i%3],
			string(rune('p' + i/3)), []string{"4", "5", "7", "8"}[i/3], []string{"1.25", "2.5"}[i%2]},
			",") + "\n"
	}
	s, err := Load("-", Options{Stdin: strings.NewReader(text), Groups: "site"})
	if err != nil {
		t.Fatal(err)
	}
	columns := s.FeatureColumns()
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"a", "kind", "b"}) || len(columns[1].Features) != 3 || s.D() != 5 {
		t.Fatalf("columns %v of %d features", columns, s.D())
	}
	without := s.Without(columns[1])
	for i := range s.N() {
		for j, v := range without.X.Row(i) {
			inside := slices.Contains(columns[1].Features, j)
			if inside && v != 0 || !inside && v != s.X.At(i, j) {
				t.Errorf("row %d, feature %d: %v of %v", i, j, v, s.X.At(i, j))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	moved, sums := s.Permuted(columns[1], rng), make([]float64, s.D())
	for i := range s.N() {
		ones := 0.0
		for _, j := range columns[1].Features {
			ones += moved.X.At(i, j)
			sums[j] += moved.X.At(i, j)
		}
		if ones != 1 || moved.X.At(i, 0) != s.X.At(i, 0) {
			t.Errorf("row %d: %v of %v", i, moved.X.Row(i), s.X.Row(i))
		}
	}
	if sums[1] != 4 || sums[2] != 4 || sums[3] != 4 {
		t.Errorf("levels stand in %v rows", sums[1:4])
	}
	whole := s.Permuted(columns[2], rng)
	seen := map[float64]int{}
	for i, g := range s.Groups {
		if v := whole.X.At(i, 4); v != whole.X.At(slices.Index(s.Groups, g), 4) {
			t.Errorf("group %d has two values", g)
		} else {
			seen[v]++
		}
	}
	if len(seen) != 4 {
		t.Errorf("groups have the values %v", seen)
	}
}
