package svm

// Source computes kernel rows.
type Source interface {
	N() int
	Diag(i int) float64
	// FillRow writes row i into row, which has length N. It may be called from
	// several goroutines at a time.
	FillRow(row []float64, i int)
}

// Cache is the Rows of a Source: it keeps the rows used last and computes the
// others when they are asked for, so that N may be larger than what memory
// holds as a matrix. It serves one goroutine.
type Cache struct {
	source Source
	limit  int // rows kept at most
	slot   []int
	kept   []row
	newest int // ends of the list of kept rows by last use
	oldest int
	// Computed counts the rows that FillRow was asked for.
	Computed int
}

// row is a kept row in the list.
type row struct {
	i            int
	data         []float64
	newer, older int
}

// NewCache returns a Cache that keeps as many rows as fit into bytes, at least
// KeptRows and at most all.
func NewCache(source Source, bytes int64) *Cache {
	n := source.N()
	c := &Cache{source: source, newest: -1, oldest: -1, slot: make([]int, n)}
	c.limit = min(n, max(KeptRows, int(min(bytes/(8*int64(max(1, n))), int64(n)))))
	for i := range c.slot {
		c.slot[i] = -1
	}
	return c
}

// Clone returns an empty Cache of the same size on the same Source.
func (c *Cache) Clone() Rows {
	return NewCache(c.source, 8*int64(c.limit)*int64(c.source.N()))
}

// N is the order of the matrix.
func (c *Cache) N() int { return len(c.slot) }

// Diag is K_ii.
func (c *Cache) Diag(i int) float64 { return c.source.Diag(i) }

// Row is row i of K.
func (c *Cache) Row(i int) []float64 {
	at := c.slot[i]
	switch {
	case at >= 0 && at == c.newest:
		return c.kept[at].data
	case at >= 0:
		c.unlink(at)
	default:
		at = c.fill(i)
	}
	c.pushNewest(at)
	return c.kept[at].data
}

// fill computes row i in a new place, or in that of the row not used for longest.
func (c *Cache) fill(i int) (at int) {
	if len(c.kept) < c.limit {
		at = len(c.kept)
		c.kept = append(c.kept, row{data: make([]float64, len(c.slot))})
	} else {
		at = c.oldest
		c.unlink(at)
		c.slot[c.kept[at].i] = -1
	}
	c.kept[at].i, c.slot[i] = i, at
	c.Computed++
	c.source.FillRow(c.kept[at].data, i)
	return at
}

func (c *Cache) unlink(at int) {
	newer, older := c.kept[at].newer, c.kept[at].older
	if newer >= 0 {
		c.kept[newer].older = older
	} else {
		c.newest = older
	}
	if older >= 0 {
		c.kept[older].newer = newer
	} else {
		c.oldest = newer
	}
}

func (c *Cache) pushNewest(at int) {
	c.kept[at].newer, c.kept[at].older = -1, c.newest
	if c.newest >= 0 {
		c.kept[c.newest].newer = at
	} else {
		c.oldest = at
	}
	c.newest = at
}
