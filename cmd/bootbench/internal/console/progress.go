package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress is a line on a terminal that is drawn over while work is under way, and now and then a line in a
// log file. The zero value shows nothing.
type progress struct {
	out      io.Writer // nil: nothing is shown
	terminal bool
	began    time.Time // of the run
	mu       sync.Mutex
	label    string // of what is under way; "": nothing is
	phase    phase  // of the steps of one kind
	tasks    phase  // of the tasks of the run, in whose course phases repeat
	drawn    bool
	logged   time.Time     // when the last line was written into a log file
	forecast time.Duration // the longest that was written
}

// Periods. Short runs show nothing.
const (
	drawPeriod = 200 * time.Millisecond
	logPeriod  = 30 * time.Second
	patience   = 2 * time.Second
	longWait   = 30 * time.Second // longer ones are forecast
)

// newProgress shows progress on stderr unless quiet is asked for. It draws by the clock: a single long step
// shows that time passes, too.
func newProgress(stderr io.Writer, quiet bool) *progress {
	f, ok := stderr.(*os.File)
	if quiet || !ok {
		return &progress{}
	}
	info, err := f.Stat()
	now := time.Now()
	p := &progress{out: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, began: now, logged: now}
	go func() {
		for now := range time.Tick(drawPeriod) {
			p.draw(now)
		}
	}()
	return p
}

// show says that done of total are done under a label.
func (p *progress) show(label string, done, total int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind(label) != kind(p.label) {
		p.phase = phase{}
	}
	p.label = label
	p.phase.move(done, total, now)
}

// kind is a label without its numbers.
func kind(label string) string {
	if at := strings.IndexAny(label, "0123456789"); at >= 0 {
		return label[:at]
	}
	return label
}

// task says that done of total tasks are done.
func (p *progress) task(done, total int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks.move(done, total, now)
}

// draw shows what is under way.
func (p *progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || p.label == "" || now.Sub(p.began) < patience {
		return
	}
	left := p.phase.left(now)
	if p.tasks.total > 1 {
		left = p.tasks.left(now)
	}
	text := p.label
	if p.phase.total > 1 {
		text += fmt.Sprintf(", %d%%", 100*p.phase.done/p.phase.total)
	}
	if left >= time.Second {
		text += fmt.Sprintf(", about %v left", left.Round(time.Second))
	} else if passed := now.Sub(p.phase.began); passed >= patience {
		text += fmt.Sprintf(", %v so far", passed.Truncate(time.Second))
	}
	if left > longWait && left > 2*p.forecast || !p.terminal && now.Sub(p.logged) >= logPeriod {
		p.forecast, p.logged = max(p.forecast, left), now
		p.erase()
		fmt.Fprintf(p.out, "bootbench: %s\n", text)
	}
	if p.terminal {
		const width = 79 // of a narrow terminal: a line that is folded could not be drawn over
		wide := []rune(text)
		fmt.Fprintf(p.out, "\r\x1b[K%s", string(wide[:min(len(wide), width)]))
		p.drawn = true
	}
}

// print writes to the stream of the line, which it takes off the terminal first.
func (p *progress) print(w io.Writer, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	io.WriteString(w, text)
}

// clear takes the line off the terminal until more is under way, so that others can print.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.label = ""
}

func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.drawn = false
}

// phase is a run of steps of one kind: it begins anew where the count of steps that are done falls.
type phase struct {
	began, last time.Time // of the phase and of its last step
	first       int       // done when it began
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

// left is the time that the rest will take at the pace so far; 0 where that is not known: until a twentieth
// of the steps is done, and where they have become slower.
func (p *phase) left(now time.Time) time.Duration {
	steps := p.done - p.first
	if steps <= 0 || 20*steps < p.total || p.done >= p.total {
		return 0
	}
	rest := p.last.Sub(p.began) * time.Duration(p.total-p.done) / time.Duration(steps)
	return max(0, rest-now.Sub(p.last))
}
