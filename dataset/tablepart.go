package dataset

import "math"

// tablePart is rows of a table that were read without the rows before them.
type tablePart struct {
	whole   *table
	reader  *recordReader // of the whole
	rows    *table
	records recordReader
}

func (p *tablePart) begin() {
	t := p.whole
	cells := p.rows.cells
	cells.reset()
	names := p.rows.rowNames
	*p.rows = table{
		opt: t.opt, columns: append(p.rows.columns[:0], t.columns...), used: t.used, features: t.features,
		stride: t.stride,
		found:  found{commas: decimals{possible: t.commas.possible}}, cells: cells, rowNames: names[:0],
	}
	for j := range p.rows.columns {
		c := &p.rows.columns[j]
		c.missing, c.unseen, c.firstMissing = 0, 0, 0
		if c.others == othersAdded {
			c.number, c.texts = nil, nil
		}
	}
}

func (p *tablePart) parse(lines *lineReader) error {
	p.records.lines, p.records.records, p.records.skipped = lines, 1, 0
	return p.rows.addRows(&p.records)
}

func (p *tablePart) join() bool {
	if !p.whole.joinRows(p.rows) {
		return false
	}
	for _, block := range p.rows.cells.blocks {
		p.whole.cells.appendAll(block)
	}
	p.reader.skipped += p.records.skipped
	p.reader.unpaired = p.reader.unpaired || p.records.unpaired
	return true
}

// joinRows appends rows that were read by themselves, but for their cells, where those before do not change
// what they mean: by what a column holds, by decimal commas and points, or by a limit of memory.
func (t *table) joinRows(rows *table) bool {
	if t.opt.checkSize(t.opt.share(t.rows+rows.rows), t.features) != nil || !t.commas.agree(rows.commas) ||
		!t.agree(rows) {
		return false
	}
	if t.commas.comma == 0 && rows.commas.comma > 0 {
		t.commas.comma, t.commas.cell = rows.commas.comma, rows.commas.cell
	}
	if t.commas.point == 0 {
		t.commas.point = rows.commas.point
	}
	for k, j := range t.used {
		t.joinColumn(&t.columns[j], &rows.columns[j], rows, k)
	}
	for _, name := range rows.rowNames {
		t.memory += textBytes(name)
	}
	t.rowNames = append(t.rowNames, rows.rowNames...)
	t.rows += rows.rows
	t.blank += rows.blank
	return true
}

// agree reports whether numbers of both may stand in one table.
func (d decimals) agree(later decimals) bool {
	return !(d.comma > 0 && later.point > 0) && !(d.point > 0 && later.comma > 0)
}

// agree reports whether the columns hold the same as those of later rows, and whether there is
// memory for their texts and names.
func (t *table) agree(rows *table) bool {
	memory := t.memory
	for _, name := range rows.rowNames {
		memory += textBytes(name)
	}
	for _, j := range t.used {
		c, later := &t.columns[j], &rows.columns[j]
		if c.kind != undecided && later.kind != undecided && c.kind != later.kind {
			return false
		}
		for _, s := range later.texts {
			if _, ok := c.number[s]; !ok {
				memory += textBytes(s)
			}
		}
	}
	return int64(memory) <= t.opt.maxBytes()
}

// joinColumn appends what later rows say of the k-th column used, and gives their texts the
// numbers that these have here.
func (t *table) joinColumn(c, later *column, rows *table, k int) {
	if c.kind == undecided {
		c.kind = later.kind
	}
	if c.missing == 0 {
		c.firstMissing = later.firstMissing
	}
	c.missing += later.missing
	c.unseen += later.unseen
	if c.others != othersAdded || len(later.texts) == 0 {
		return
	}
	numbers, same := make([]float64, len(later.texts)), true
	for i, s := range later.texts {
		before := len(c.texts)
		number, _ := c.numberOf([]byte(s), false)
		if len(c.texts) > before {
			t.memory += textBytes(s)
		}
		numbers[i], same = float64(number), same && number == i
	}
	if same || len(rows.cells.blocks) == 0 { // another rank has the cells
		return
	}
	for i := range rows.rows {
		if v := rows.cells.entry(i*rows.stride + k); !math.IsNaN(*v) {
			*v = numbers[int(*v)]
		}
	}
}
