package dataset

import "io"

// Readers of streams as the tests want them.

// readStream reads a training set, or new inputs for train.
func readStream(r io.Reader, f format, name string, train *Encoding, opt Options) (*Set, error) {
	return readFiles(name, []*source{{name: name, format: f, text: newText(r), size: -1}}, opt, train)
}

func readInputs(r io.Reader, f format, name string, e *Encoding, opt Options) (*Inputs, error) {
	return readStream(r, f, name, e, e.options(opt))
}

func readTable(r io.Reader, name string, opt Options) (*Set, error) {
	return readStream(r, tableFormat, name, nil, opt)
}

func readLIBSVM(r io.Reader, name string, opt Options) (*Set, error) {
	return readStream(r, libsvmFormat, name, nil, opt)
}

func readNPY(r io.Reader, name string, opt Options) (*Set, error) {
	return readStream(r, npyFormat, name, nil, opt)
}

func readTableInputs(r io.Reader, name string, e *Encoding, opt Options) (*Inputs, error) {
	return readInputs(r, tableFormat, name, e, opt)
}

// readLines reads sparse lines, whatever their number and labels.
func readLines(r io.Reader, name string, opt Options) (*sparse, error) {
	s := newContents(libsvmFormat, name, opt, nil).(*sparse)
	if err := s.readFile(&source{name: name, text: newText(r)}); err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}
