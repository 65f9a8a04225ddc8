package console

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress: nothing is shown before two seconds; a terminal then has one line, which is drawn over and
// taken off, and moves where a step is long; a log file has a line every 30 s. A long wait is forecast once,
// at the pace of the phase so far, or of the tasks.
func TestProgress(t *testing.T) {
	var log, screen bytes.Buffer
	start := time.Unix(0, 0)
	p, q := New(nil, nil, &log), New(nil, nil, &screen)
	p.show(start, false)
	q.show(start, true)
	for _, c := range []struct {
		after              float64 // seconds
		label              string  // "": no step is done
		done, total        int
		onScreen, onlyHere string // what is drawn then, and what a log file has then
	}{
		{0, "reading", 0, 1, "", ""},
		{1, "", 0, 0, "", ""},
		{3, "", 0, 0, "\r\x1b[Kreading, 3s so far", ""},
		{4, "fit 0 of 4", 0, 4, "\r\x1b[Kfit 0 of 4, 0%", ""},
		{16, "fit 1 of 4", 1, 4, "\r\x1b[Kbootbench: fit 1 of 4, 25%, about 36s left\n" +
			"\r\x1b[Kfit 1 of 4, 25%, about 36s left", "bootbench: fit 1 of 4, 25%, about 36s left\n"},
		{26, "", 0, 0, "\r\x1b[Kfit 1 of 4, 25%, about 26s left", ""},
		{66, "", 0, 0, "\r\x1b[Kfit 1 of 4, 25%, 1m2s so far", "bootbench: fit 1 of 4, 25%, 1m2s so far\n"},
		{70, "fit 4 of 4", 4, 4, "\r\x1b[Kfit 4 of 4, 100%, 1m6s so far", ""},
	} {
		now := start.Add(time.Duration(c.after * float64(time.Second)))
		for _, one := range []*Console{p, q} {
			if c.label != "" {
				one.step(c.label, c.done, c.total, now)
			}
			one.draw(now)
		}
		if log.String() != c.onlyHere || screen.String() != c.onScreen {
			t.Errorf("after %v s the log file gets %q and the terminal %q", c.after, log.String(),
				screen.String())
		}
		log.Reset()
		screen.Reset()
	}
	q.Note("note")
	q.Clear()
	q.draw(start.Add(time.Hour))
	if want := "\r\x1b[Kbootbench: note\n"; screen.String() != want {
		t.Errorf("the terminal is left with %q, want %q", screen.String(), want)
	}
}

// TestTasks: where a run has several tasks, the time left is the time of all.
func TestTasks(t *testing.T) {
	var log bytes.Buffer
	start := time.Unix(0, 0)
	p := New(nil, nil, &log)
	p.show(start, false)
	p.tasks.move(0, 3, start)
	p.step("solve", 0, 100, start)
	p.tasks.move(1, 3, start.Add(time.Minute))
	p.step("solve", 0, 100, start.Add(time.Minute))
	p.draw(start.Add(time.Minute))
	if want := "bootbench: solve, 0%, about 2m0s left\n"; log.String() != want {
		t.Errorf("the log holds %q, want %q", log.String(), want)
	}
}
