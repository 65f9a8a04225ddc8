// Package console holds the streams of a run: the answer on standard output, progress and warnings on
// standard error.
package console

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Console is the streams of one run.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	Quiet    bool                  // no progress and no warnings
	Watch    func(done, total int) // called for all progress
	Rows     int                   // of the data, for records
	Memory   func() int64          // the largest number of bytes that the process has had, for records
	records  *slog.Logger          // instead of lines of text; nil: those
	lost     error                 // the first error of standard output

	// Progress is a line on a terminal that is overwritten during the work, and now and then a line in a log
	// file.
	mu       sync.Mutex
	shown    bool // progress is
	terminal bool
	began    time.Time // of the run
	label    string    // of the present work; "": none
	phase    phase     // of the steps of one kind
	tasks    phase     // of the tasks of the run, each of which has phases
	drawn    bool
	logged   time.Time     // when the last line was written into a log file
	forecast time.Duration // the longest forecast written
}

// New is a console without progress; ShowProgress starts it.
func New(in io.Reader, out, err io.Writer) *Console {
	c := &Console{In: in, Err: err}
	c.Out = writer(func(b []byte) (n int, err error) {
		if c.lost == nil {
			n, c.lost = out.Write(b)
		}
		return n, c.lost
	})
	return c
}

// writer is a function that writes.
type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// Lost is the first error of writing the answer to standard output.
func (c *Console) Lost() error {
	if c.lost != nil {
		return fmt.Errorf("writing the answer: %w", c.lost)
	}
	return nil
}

// Warn prints warnings about an answer.
func (c *Console) Warn(texts ...string) {
	for _, text := range texts {
		c.Note("warning: %s", text)
	}
}

// Note prints a line about the run.
func (c *Console) Note(format string, args ...any) {
	if !c.Quiet {
		text := fmt.Sprintf(format, args...)
		c.say(slog.LevelInfo, text)
	}
}

// Fail prints why there is no answer.
func (c *Console) Fail(text string) { c.say(slog.LevelError, text) }

func (c *Console) say(level slog.Level, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	if c.records == nil {
		fmt.Fprintf(c.Err, "bootbench: %s\n", OneLine(text))
		return
	}
	if rest, is := strings.CutPrefix(text, "warning: "); is {
		level, text = slog.LevelWarn, rest
	}
	c.records.Log(context.Background(), level, text)
}

// Record writes records in JSON instead of text, one a line, and all progress.
func (c *Console) Record() { c.records = slog.New(slog.NewJSONHandler(c.Err, nil)) }

// End writes the last record of a run.
func (c *Console) End(status int, processor time.Duration, began time.Time) {
	if c.records != nil {
		c.records.Info("end", "status", status, "wall_seconds", time.Since(began).Seconds(),
			"processor_seconds", processor.Seconds(), "rows", c.Rows, "peak_bytes", c.Memory())
	}
}

// OneLine makes a text a single line with escaped control characters, e.g. of file names.
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

// Periods. Short runs show nothing.
const (
	drawPeriod = 200 * time.Millisecond
	logPeriod  = 30 * time.Second
	patience   = 2 * time.Second
	longWait   = 30 * time.Second // longer ones are forecast
	recordWait = 5 * time.Second  // between records of one phase
)

// ShowProgress shows progress on standard error, unless Quiet is set. It redraws periodically, also during a
// single long step.
func (c *Console) ShowProgress() {
	f, ok := c.Err.(*os.File)
	if c.Quiet || !ok && c.records == nil {
		return
	}
	terminal := false
	if ok && c.records == nil {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	c.show(time.Now(), terminal)
	go func() {
		for now := range time.Tick(drawPeriod) {
			c.draw(now)
		}
	}()
}

func (c *Console) show(now time.Time, terminal bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown, c.terminal, c.began, c.logged = true, terminal, now, now
}

// Progress reports that done of total steps of a label are done.
func (c *Console) Progress(label string, done, total int) {
	if c.Watch != nil {
		c.Watch(done, total)
	}
	c.step(label, done, total, time.Now())
}

func (c *Console) step(label string, done, total int, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind(label) != kind(c.label) {
		c.phase = phase{}
	}
	begins := kind(label) != kind(c.label)
	c.label = label
	c.phase.move(done, total, now)
	if wait := now.Sub(c.logged); wait >= recordWait || begins && wait >= drawPeriod || c.logged == c.began {
		c.record(now)
	}
}

// record writes the progress as a record, if there are records.
func (c *Console) record(now time.Time) {
	if c.records == nil || !c.shown || c.label == "" {
		return
	}
	c.logged = now
	var left any // null: unknown
	if d := c.left(now); d > 0 {
		left = d.Seconds()
	}
	c.records.Info("progress", "phase", c.label, "done", c.phase.done, "total", c.phase.total,
		"seconds_left", left, "rows", c.Rows, "memory_bytes", c.Memory())
}

// left is the remaining time of all tasks, or of the phase; 0: unknown.
func (c *Console) left(now time.Time) time.Duration {
	if c.tasks.total > 1 {
		return c.tasks.left(now)
	}
	return c.phase.left(now)
}

// kind is a label without its numbers.
func kind(label string) string {
	if at := strings.IndexAny(label, "0123456789"); at >= 0 {
		return label[:at]
	}
	return label
}

// Tasks reports that done of total tasks of the run are done: the time left is then the time of all tasks.
func (c *Console) Tasks(done, total int) {
	if c.Watch != nil {
		c.Watch(done, total)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks.move(done, total, time.Now())
}

// Clear removes the line from the terminal until the next progress, so that others can print.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	c.label = ""
}

func (c *Console) erase() {
	if c.drawn {
		fmt.Fprint(c.Err, "\r\x1b[K")
	}
	c.drawn = false
}

// draw shows the progress.
func (c *Console) draw(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records != nil && now.Sub(c.logged) >= recordWait {
		c.record(now)
	}
	if !c.shown || c.label == "" || now.Sub(c.began) < patience || c.records != nil {
		return
	}
	left, text := c.left(now), c.label
	if c.phase.total > 1 {
		text += fmt.Sprintf(", %d%%", 100*c.phase.done/c.phase.total)
	}
	if left >= time.Second {
		text += fmt.Sprintf(", about %v left", left.Round(time.Second))
	} else if passed := now.Sub(c.phase.began); passed >= patience {
		text += fmt.Sprintf(", %v so far", passed.Truncate(time.Second))
	}
	if left > longWait && left > 2*c.forecast || !c.terminal && now.Sub(c.logged) >= logPeriod {
		c.forecast, c.logged = max(c.forecast, left), now
		c.erase()
		fmt.Fprintf(c.Err, "bootbench: %s\n", text)
	}
	if c.terminal {
		// A line that a narrow terminal wraps could not be overwritten.
		fmt.Fprintf(c.Err, "\r\x1b[K%.79s", text)
		c.drawn = true
	}
}

// phase is a run of steps of one kind: a new one begins when the count of done steps decreases.
type phase struct {
	began, last time.Time // of the phase and of its last step
	first       int       // count of done steps at its start
	done, total int
}

func (p *phase) move(done, total int, now time.Time) {
	if p.began.IsZero() || done < p.done || total != p.total {
		p.began, p.last, p.first = now, now, done
	}
	if done != p.done {
		p.last = now
	}
	p.done, p.total = done, total
}

// left is the remaining time at the pace so far; 0 if unknown: before a twentieth of the steps is done, and
// when they have become slower.
func (p *phase) left(now time.Time) time.Duration {
	steps := p.done - p.first
	if steps <= 0 || 20*steps < p.total || p.done >= p.total {
		return 0
	}
	rest := p.last.Sub(p.began) * time.Duration(p.total-p.done) / time.Duration(steps)
	return max(0, rest-now.Sub(p.last))
}
