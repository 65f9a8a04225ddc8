package dist

import (
	"fmt"

	"bootbench/linalg"
)

// NewTeam is the ranks of g as those who share a low-rank factor. Every sum begins with
// a meeting, as every operation of an Engine does.
func NewTeam(g Grid) linalg.Team { return team{g} }

type team struct{ Grid }

func (t team) Sum(x []float64) {
	meet(t.Grid, fmt.Sprintf("sum of %d numbers", len(x)), 0)
	t.Reduce(x)
	t.Grid.Broadcast(x, 0)
}

func (t team) Agree(err error) error { return AllErr(t.Grid, err, nil) }
