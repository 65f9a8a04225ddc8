package dist

import (
	"fmt"

	"bootbench/linalg"
)

// NewTeam is the ranks of g as those who share a low-rank factor. Every sum begins with
// a meeting, as every operation of an Engine does.
func NewTeam(g Grid) Team { return Team{g} }

// Team is a linalg.Team and dataset.Ranks.
type Team struct{ Grid }

var _ linalg.Team = Team{}

// Sum adds x up over the ranks. All get the same.
func (t Team) Sum(x []float64) {
	meet(t.Grid, fmt.Sprintf("sum of %d numbers", len(x)), 0)
	t.Reduce(x)
	t.Grid.Broadcast(x, 0)
}

// Agree is nil if err is nil on all ranks, and otherwise an error on all.
func (t Team) Agree(err error) error { return AllErr(t.Grid, err, nil) }
