// Package console holds the streams of a run: the answer on standard output,
// progress and warnings on standard error, which never mix.
package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Console is the streams of one run.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	Quiet    bool                  // no progress and no warnings
	Watch    func(done, total int) // hears of all progress
	answer   *errWriter
	progress *progress
}

// New is a console without progress; ShowProgress begins it.
func New(in io.Reader, out, err io.Writer) *Console {
	answer := &errWriter{w: out}
	return &Console{In: in, Out: answer, Err: err, answer: answer, progress: &progress{}}
}

// errWriter keeps the first error of a writer, so that an answer that did not arrive
// cannot pass for one that did.
type errWriter struct {
	w   io.Writer
	err error
}

func (a *errWriter) Write(b []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(b)
	a.err = err
	return n, err
}

// Lost is the error that kept standard output from taking the answer.
func (c *Console) Lost() error {
	if c.answer.err != nil {
		return fmt.Errorf("writing the answer: %w", c.answer.err)
	}
	return nil
}

// ShowProgress shows on standard error how the work goes on, unless Quiet is set.
func (c *Console) ShowProgress() { c.progress = newProgress(c.Err, c.Quiet) }

// Progress says that done of total are done under a label.
func (c *Console) Progress(label string, done, total int) {
	if c.Watch != nil {
		c.Watch(done, total)
	}
	c.progress.show(label, done, total, time.Now())
}

// Tasks says that done of total tasks of the run are done: the time left is then that of all of them.
func (c *Console) Tasks(done, total int) { c.progress.task(done, total, time.Now()) }

// Clear ends what Progress shows, so that others can print.
func (c *Console) Clear() { c.progress.clear() }

// Warn prints what the user should know about an answer.
func (c *Console) Warn(texts ...string) {
	for _, text := range texts {
		c.Note("warning: %s", text)
	}
}

// OneLine makes a text a single line that no terminal takes for a command: control characters, as names of
// files have them, are escaped.
func OneLine(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Note prints a line about the run.
func (c *Console) Note(format string, args ...any) {
	if !c.Quiet {
		c.progress.print(c.Err, "bootbench: "+OneLine(fmt.Sprintf(format, args...))+"\n")
	}
}
