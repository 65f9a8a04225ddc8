package main

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

// bars shows progress: a bar on a terminal, and now and then a line in a log
// file. The zero value shows nothing.
type bars struct {
	terminal *os.File  // nil: no bar
	log      io.Writer // nil: no lines
	progress *mpb.Progress
	bar      *mpb.Bar
	mu       sync.Mutex
	label    string
	phase    phase
	told     time.Time // when the last line was written, or the bars were made
}

// logPeriod is the time between two lines in a log file. Short runs write none.
const logPeriod = 30 * time.Second

// newBars shows progress on stderr unless quiet is asked for.
func newBars(stderr io.Writer, quiet bool) *bars {
	f, ok := stderr.(*os.File)
	switch {
	case quiet || !ok:
		return &bars{}
	case cwriter.IsTerminal(int(f.Fd())):
		return &bars{terminal: f}
	}
	return &bars{log: f, told: time.Now()}
}

// show says that done of total are done under a label.
func (b *bars) show(label string, done, total int) {
	if b.terminal == nil && b.log == nil {
		return
	}
	b.mu.Lock()
	b.label = label
	b.phase.move(done, total, time.Now())
	b.mu.Unlock()
	if b.log != nil {
		b.tell(time.Now())
		return
	}
	if b.bar == nil {
		b.begin()
	}
	b.bar.SetTotal(int64(max(total, 1)), false)
	b.bar.SetCurrent(int64(done))
}

// tell writes a line if the last one is long ago.
func (b *bars) tell(now time.Time) {
	if now.Sub(b.told) < logPeriod {
		return
	}
	b.told = now
	fmt.Fprintf(b.log, "bootbench: %s%s\n", b.label, b.phase.left(now))
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

func (b *bars) begin() {
	options := []mpb.ContainerOption{mpb.WithOutput(b.terminal), mpb.WithWidth(40)}
	if width, height, err := cwriter.GetSize(int(b.terminal.Fd())); err != nil || width == 0 || height == 0 {
		// A terminal that does not know its size: hide that it is one, or nothing
		// would fit into it.
		options = []mpb.ContainerOption{mpb.WithOutput(struct{ io.Writer }{b.terminal}), mpb.WithWidth(80), mpb.WithAutoRefresh()}
	}
	b.progress = mpb.New(options...)
	text := func(of func() string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return of()
		})
	}
	// A total of 0 keeps the bar from ending by itself; clear ends it.
	b.bar = b.progress.AddBar(0, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(text(func() string { return b.label + " " })),
		mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_GO),
			text(func() string { return b.phase.left(time.Now()) })))
}

// clear takes the bar off the terminal, so that others can print.
func (b *bars) clear() {
	if b.bar == nil {
		return
	}
	b.bar.Abort(true)
	b.progress.Wait()
	b.bar, b.progress = nil, nil
}
