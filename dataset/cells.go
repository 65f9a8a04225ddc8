package dataset

// blockSize is the number of cells of a block: 1 MiB.
const blockSize = 1 << 17

// cellList is a growing list of numbers, in blocks: to grow copies at most the
// first block, so that reading a table takes its size once and the matrix made
// of it once more.
type cellList struct {
	blocks [][]float64
}

func (c *cellList) append(v float64) {
	last := len(c.blocks) - 1
	if last < 0 || len(c.blocks[last]) == cap(c.blocks[last]) {
		last = c.grow()
	}
	c.blocks[last] = append(c.blocks[last], v)
}

// grow makes room for a cell: the first block doubles, the others have their size
// from the beginning. It returns the number of the block.
func (c *cellList) grow() int {
	switch last := len(c.blocks) - 1; {
	case last < 0:
		c.blocks = [][]float64{make([]float64, 0, 64)}
	case len(c.blocks[last]) == blockSize:
		c.blocks = append(c.blocks, make([]float64, 0, blockSize))
	default:
		c.blocks[0] = append(make([]float64, 0, 2*cap(c.blocks[0])), c.blocks[0]...)
	}
	return len(c.blocks) - 1
}

// appendAll appends all of v.
func (c *cellList) appendAll(v []float64) {
	for len(v) > 0 {
		last := len(c.blocks) - 1
		if last < 0 || len(c.blocks[last]) == cap(c.blocks[last]) {
			last = c.grow()
		}
		block := c.blocks[last]
		n := min(len(v), cap(block)-len(block))
		c.blocks[last] = append(block, v[:n]...)
		v = v[n:]
	}
}

// reset empties the list and keeps a block.
func (c *cellList) reset() {
	if len(c.blocks) > 0 {
		c.blocks = c.blocks[:1]
		c.blocks[0] = c.blocks[0][:0]
	}
}

func (c *cellList) at(k int) float64 { return *c.entry(k) }

func (c *cellList) entry(k int) *float64 { return &c.blocks[k/blockSize][k%blockSize] }
