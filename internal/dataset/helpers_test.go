package dataset

import "io"

// Readers of streams as the tests want them.

func readLIBSVM(r io.Reader, name string, opt Options) (*Set, error) {
	s, err := readLines(r, name, opt)
	if err != nil {
		return nil, err
	}
	return asSet(s, name, opt)
}

func asSet(c contents, name string, opt Options) (*Set, error) {
	set, err := c.set(opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	return set, nil
}

func asInputs(c contents, name string, e *Encoding, opt Options) (*Inputs, error) {
	in, err := c.inputs(e, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	return in, nil
}

func readLines(r io.Reader, name string, opt Options) (*sparse, error) {
	s := newSparse(name)
	if err := s.read(newText(r), name, opt.bounded()); err != nil {
		return nil, inFile(name, err)
	}
	return s, s.end()
}

func readTableInputs(r io.Reader, name string, e *Encoding, opt Options) (*Inputs, error) {
	t, err := readTable(r, name, e.options(opt), func(t *table) error { return t.planInputs(e) })
	if err != nil {
		return nil, err
	}
	return asInputs(t, name, e, opt)
}

func readArray(r io.Reader, name string, opt Options, plan func(t *table) error) (*table, error) {
	t := newTable(name, opt)
	if err := t.readFile(&source{name: name, format: npyFormat, text: newText(r), size: -1}, plan); err != nil {
		return nil, inFile(name, err)
	}
	return t, t.end()
}

func readNPY(r io.Reader, name string, opt Options) (*Set, error) {
	t, err := readArray(r, name, opt, (*table).planTraining)
	if err != nil {
		return nil, err
	}
	return asSet(t, name, opt)
}
