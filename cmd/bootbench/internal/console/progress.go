package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress is a line on a terminal that is drawn over, and now and then a line in a log file. The zero value
// shows nothing.
type progress struct {
	out      io.Writer // nil: nothing is shown
	terminal bool
	period   time.Duration // between two drawings, or two lines
	mu       sync.Mutex
	drawn    bool
	last     time.Time // of them
	phase    phase
}

// Periods. Short runs write no line into a log file.
const (
	drawPeriod = 100 * time.Millisecond
	logPeriod  = 30 * time.Second
)

// newProgress shows progress on stderr unless quiet is asked for.
func newProgress(stderr io.Writer, quiet bool) *progress {
	f, ok := stderr.(*os.File)
	if quiet || !ok {
		return &progress{}
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return &progress{out: f, terminal: true, period: drawPeriod}
	}
	return &progress{out: f, period: logPeriod, last: time.Now()}
}

// show says that done of total are done under a label.
func (p *progress) show(label string, done, total int, now time.Time) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase.move(done, total, now)
	if begins := p.terminal && done == 0; !begins && now.Sub(p.last) < p.period {
		return
	}
	p.last = now
	if !p.terminal {
		fmt.Fprintf(p.out, "bootbench: %s%s\n", label, p.phase.left(now))
		return
	}
	const width = 79 // of a narrow terminal: a line that is folded could not be drawn over
	text := []rune(fmt.Sprintf("%s %d%%%s", label, 100*done/max(1, total), p.phase.left(now)))
	fmt.Fprintf(p.out, "\r\x1b[K%s", string(text[:min(len(text), width)]))
	p.drawn = true
}

// clear takes the line off the terminal, so that others can print.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.drawn = false
}

// phase is a run of steps of one kind: it begins anew where the count of steps that are done falls.
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

// left words the time that the rest will take at the pace so far, or nothing where that is not known.
func (p *phase) left(now time.Time) string {
	if p.done <= p.first || p.done >= p.total {
		return ""
	}
	pace := now.Sub(p.began) / time.Duration(p.done-p.first)
	return fmt.Sprintf(", about %v left", (pace * time.Duration(p.total-p.done)).Round(time.Second))
}
