package model

import (
	"bootbench/resample"
	"context"
)

// CostOf is the cost of a plan's fits: of the rough theory, of a fit in a block, of a single one.
func CostOf(m *Model, plan resample.Plan) [3]float64 {
	c := costOf(context.Background(), m, plan)
	return [3]float64{c.solve, c.block, c.single}
}
