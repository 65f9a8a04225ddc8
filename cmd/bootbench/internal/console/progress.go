package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress is a bar on a terminal, and now and then a line in a log file. The zero
// value shows nothing.
type progress struct {
	terminal *os.File  // nil: no bar
	log      io.Writer // nil: no lines
	group    *mpb.Progress
	bar      *mpb.Bar
	mu       sync.Mutex
	label    string
	phase    phase
	logged   time.Time // when the last line was written, or the run began
}

// logPeriod is the time between two lines in a log file. Short runs write none.
const logPeriod = 30 * time.Second

// newProgress shows progress on stderr unless quiet is asked for.
func newProgress(stderr io.Writer, quiet bool) *progress {
	f, ok := stderr.(*os.File)
	switch {
	case quiet || !ok:
		return &progress{}
	case cwriter.IsTerminal(int(f.Fd())):
		return &progress{terminal: f}
	}
	return &progress{log: f, logged: time.Now()}
}

// show says that done of total are done under a label.
func (p *progress) show(label string, done, total int) {
	if p.terminal == nil && p.log == nil {
		return
	}
	p.mu.Lock()
	p.label = label
	p.phase.move(done, total, time.Now())
	p.mu.Unlock()
	if p.log != nil {
		p.writeLine(time.Now())
		return
	}
	if p.bar == nil {
		p.begin()
	}
	p.bar.SetTotal(int64(max(total, 1)), false)
	p.bar.SetCurrent(int64(done))
}

// writeLine writes a line if the last one is long ago.
func (p *progress) writeLine(now time.Time) {
	if now.Sub(p.logged) < logPeriod {
		return
	}
	p.logged = now
	fmt.Fprintf(p.log, "bootbench: %s%s\n", p.label, p.phase.left(now))
}

// phase is a run of steps of one kind: it begins anew where the count of steps
// that are done falls.
type phase struct {
	began       time.Time
	first       int // done when it began
	done, total int
}

func (p *phase) move(done, total int, now time.Time) {
	if p.began.IsZero() || done < p.done || total != p.total {
		p.began, p.first = now, done
	}
	p.done, p.total = done, total
}

// left words the time that the rest will take at the pace so far, or nothing
// where that is not known.
func (p *phase) left(now time.Time) string {
	if p.done <= p.first || p.done >= p.total {
		return ""
	}
	pace := now.Sub(p.began) / time.Duration(p.done-p.first)
	return fmt.Sprintf(", about %v left", (pace * time.Duration(p.total-p.done)).Round(time.Second))
}

func (p *progress) begin() {
	options := []mpb.ContainerOption{mpb.WithOutput(p.terminal), mpb.WithWidth(40)}
	if width, height, err := cwriter.GetSize(int(p.terminal.Fd())); err != nil || width == 0 || height == 0 {
		// A terminal that does not know its size: hide that it is one, or nothing
		// would fit into it.
		options = []mpb.ContainerOption{mpb.WithOutput(struct{ io.Writer }{p.terminal}), mpb.WithWidth(80),
			mpb.WithAutoRefresh()}
	}
	p.group = mpb.New(options...)
	text := func(of func() string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return of()
		})
	}
	// A total of 0 keeps the bar from ending by itself; clear ends it.
	p.bar = p.group.AddBar(0, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(text(func() string { return p.label + " " })),
		mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_GO),
			text(func() string { return p.phase.left(time.Now()) })))
}

// clear takes the bar off the terminal, so that others can print.
func (p *progress) clear() {
	if p.bar == nil {
		return
	}
	p.bar.Abort(true)
	p.group.Wait()
	p.bar, p.group = nil, nil
}
