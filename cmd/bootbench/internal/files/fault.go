package files

import (
	"os"
	"sync/atomic"
)

// A step is one thing that the file system does for this package, which may fail.
type step string

const (
	makeStep   step = "create"
	writeStep  step = "write"
	syncStep   step = "fsync"
	closeStep  step = "close"
	renameStep step = "rename"
	linkStep   step = "link"
	readStep   step = "read"
)

// faults says whether a step on a file fails; nil, as in every run but those of tests: what
// the system says.
var faults atomic.Pointer[func(step, path string) error]

// InjectFaults makes steps on files fail with what fail returns, until restore is called.
// It is for tests of what becomes of a run then.
func InjectFaults(fail func(step, path string) error) (restore func()) {
	faults.Store(&fail)
	return func() { faults.Store(nil) }
}

// attempt does a step, unless it is to fail.
func attempt(s step, path string, do func() error) error {
	if fail := faults.Load(); fail != nil {
		if err := (*fail)(string(s), path); err != nil {
			return &os.PathError{Op: string(s), Path: path, Err: err}
		}
	}
	return do()
}

// faultyWriter writes to a file, a step each time.
type faultyWriter struct{ f *os.File }

func (w faultyWriter) Write(b []byte) (n int, err error) {
	err = attempt(writeStep, w.f.Name(), func() error { n, err = w.f.Write(b); return err })
	return n, err
}
