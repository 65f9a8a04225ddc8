package console

import (
	"bytes"
	"testing"
	"time"
)

// TestLog: in a log file a line stands at most once a period, with the time
// left at the pace so far.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	start := time.Now().Add(-time.Hour)
	b := &progress{log: &out, logged: time.Now()}
	b.show("fitting", 1, 4)
	if out.Len() != 0 {
		t.Errorf("a short run wrote %q", out.String())
	}
	b.phase = phase{began: start, first: 0, done: 1, total: 4}
	b.writeLine(start.Add(time.Hour))
	b.logged = start
	b.writeLine(start.Add(logPeriod - 1))
	b.writeLine(start.Add(logPeriod))
	b.writeLine(start.Add(logPeriod + 1))
	if got, want := out.String(), "bootbench: fitting, about 1m30s left\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// TestPhase: the time left follows the steps of the phase that is under way.
func TestPhase(t *testing.T) {
	var p phase
	start := time.Now()
	p.move(0, 10, start)
	p.move(5, 10, start.Add(20*time.Second))
	if got := p.left(start.Add(20 * time.Second)); got != ", about 20s left" {
		t.Errorf("half way: %q", got)
	}
	p.move(2, 10, start.Add(30*time.Second)) // a new phase
	if got := p.left(start.Add(31 * time.Second)); got != "" {
		t.Errorf("at its first step: %q", got)
	}
	p.move(10, 10, start.Add(40*time.Second))
	if got := p.left(start.Add(40 * time.Second)); got != "" {
		t.Errorf("at the end: %q", got)
	}
}
