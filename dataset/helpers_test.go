package dataset

import (
	"bufio"
	"io"
)

// Readers of streams as the tests want them.

func readLIBSVM(r io.Reader, name string, opt Options) (*Set, error) {
	return readSparseSet([]stream{{name, r}}, name, opt)
}

func readNPYInputs(r io.Reader, name string, e *Encoding, opt Options) (*Inputs, error) {
	t, err := readArrays([]*source{{name: name, text: bufio.NewReader(r), size: -1}}, name, opt,
		func(t *table) error { return t.planInputs(e) })
	if err != nil {
		return nil, err
	}
	return t.inputs(e)
}

func readNPY(r io.Reader, name string, opt Options) (*Set, error) {
	t, err := readArrays([]*source{{name: name, text: bufio.NewReader(r), size: -1}}, name, opt,
		(*table).planTraining)
	if err != nil {
		return nil, err
	}
	return t.set()
}
