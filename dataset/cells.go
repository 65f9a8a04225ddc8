package dataset

// blockCells is about the number of cells of a block: 128 KiB.
const blockCells = 1 << 14

// cellRows are rows of numbers, of which nobody knows at first how many there will be. They lie in
// blocks, so that what is there need not be copied for more: reading a table takes its size once, and the
// matrix made of it once more.
type cellRows struct {
	width    int
	perBlock int // rows
	rows     int
	blocks   [][]float64
}

func newCellRows(width int) *cellRows {
	return &cellRows{width: width, perBlock: max(1, blockCells/max(1, width))}
}

// add appends a row of zeros and returns it.
func (c *cellRows) add() []float64 {
	if c.rows%c.perBlock == 0 {
		c.blocks = append(c.blocks, make([]float64, c.perBlock*c.width))
	}
	c.rows++
	return c.row(c.rows - 1)
}

// row is row i, a view.
func (c *cellRows) row(i int) []float64 {
	first := i % c.perBlock * c.width
	return c.blocks[i/c.perBlock][first : first+c.width]
}
