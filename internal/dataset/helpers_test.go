package dataset

import "io"

// Readers of streams as the tests want them.

// readStream reads a training set, or new inputs for e.
func readStream(r io.Reader, f format, name string, e *Encoding, opt Options) (contents, error) {
	c := newContents(f, name, opt, e)
	if err := c.readFile(&source{name: name, format: f, text: newText(r), size: -1}); err != nil {
		return nil, inFile(name, err)
	}
	return c, c.end()
}

func readSet(r io.Reader, f format, name string, opt Options) (*Set, error) {
	c, err := readStream(r, f, name, nil, opt)
	if err != nil {
		return nil, err
	}
	s, err := c.set()
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}

func readInputs(r io.Reader, f format, name string, e *Encoding, opt Options) (*Inputs, error) {
	c, err := readStream(r, f, name, e, e.options(opt))
	if err != nil {
		return nil, err
	}
	in, err := c.inputs(e)
	if err != nil {
		return nil, inFile(name, err)
	}
	return in, nil
}

func readLines(r io.Reader, name string, opt Options) (*sparse, error) {
	c, err := readStream(r, libsvmFormat, name, nil, opt)
	if err != nil {
		return nil, err
	}
	return c.(*sparse), nil
}

func readLIBSVM(r io.Reader, name string, opt Options) (*Set, error) {
	return readSet(r, libsvmFormat, name, opt)
}

func readNPY(r io.Reader, name string, opt Options) (*Set, error) {
	return readSet(r, npyFormat, name, opt)
}

func readTableInputs(r io.Reader, name string, e *Encoding, opt Options) (*Inputs, error) {
	return readInputs(r, tableFormat, name, e, opt)
}
