package dataset

// blockSize is the number of cells of a block: 1 MiB.
const blockSize = 1 << 17

// cellList is a growing list of numbers, in blocks: to grow copies at most the
// first block, so that reading a table takes its size once and the matrix made
// of it once more.
type cellList struct {
	blocks [][]float64
	count  int
}

func (c *cellList) append(v float64) {
	last := len(c.blocks) - 1
	if last < 0 || len(c.blocks[last]) == blockSize {
		var block []float64
		if last >= 0 {
			block = make([]float64, 0, blockSize)
		}
		c.blocks, last = append(c.blocks, block), last+1
	}
	c.blocks[last] = append(c.blocks[last], v)
	c.count++
}

func (c *cellList) at(k int) float64 { return c.blocks[k/blockSize][k%blockSize] }
