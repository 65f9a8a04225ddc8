package console

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress: a log file has a line at most once a period, with the time left at the pace of the phase so
// far; a terminal has one line, which is drawn over and taken off.
func TestProgress(t *testing.T) {
	var log, screen bytes.Buffer
	start := time.Now()
	p := &progress{out: &log, period: logPeriod, last: start}
	q := &progress{out: &screen, period: drawPeriod, terminal: true}
	for _, c := range []struct {
		after       time.Duration
		done, total int
	}{{0, 0, 4}, {logPeriod - 1, 1, 4}, {logPeriod, 1, 4}, {logPeriod + 1, 2, 4}, {2 * logPeriod, 4, 4},
		{3 * logPeriod, 1, 4}} { // a new phase
		p.show("fitting", c.done, c.total, start.Add(c.after))
		q.show("fitting", c.done, c.total, start.Add(c.after))
	}
	want := "bootbench: fitting, about 1m30s left\nbootbench: fitting\nbootbench: fitting\n"
	if log.String() != want {
		t.Errorf("the log holds %q, want %q", log.String(), want)
	}
	q.clear()
	q.clear()
	want = "\r\x1b[Kfitting 0%\r\x1b[Kfitting 25%, about 1m30s left\r\x1b[K" +
		"fitting 100%\r\x1b[Kfitting 25%\r\x1b[K"
	if screen.String() != want {
		t.Errorf("the terminal saw %q, want %q", screen.String(), want)
	}
}
