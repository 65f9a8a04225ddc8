package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// TestInterruptAnywhere: wherever a run's context ends, the run says that it was interrupted, and never names
// the context.
func TestInterruptAnywhere(t *testing.T) {
	const labels = "synthetic:blobs,n=60,d=3 --loss hinge --C 1 --length-scale 2"
	tables := goldenTables(t, nil)
	for i, line := range []string{
		on("estimate"), on("rows --engine lowrank --rank-tol 1e-3"), on("estimate --refine 20"),
		on("curve --ratio 0.5:2:3"), on("retrain --resamples 20"),
		on("cv --permutations 3"), on("rows"), on("columns"), on("grid --over gamma=0.01,0.1"),
		on("predict --test synthetic:friedman1,n=3"), on("compare --sizes 20 --resamples 3"),
		"estimate synthetic:blobs,n=60,d=3", "tune synthetic:friedman1,n=60",
		"loo " + labels + " --method all",
		"estimate " + labels, "cv " + labels, "train " + labels + " --model " + t.TempDir() + "/model.json",
		"estimate CLASSES HINGE --refine 20", "retrain CLASSES HINGE --resamples 20", "loo CLASSES HINGE",
		"cv CLASSES HINGE --multiclass ovo --permutations 3", "estimate TARGETS SQUARE --refine 20",
		"retrain TARGETS SQUARE --resamples 20", "predict TARGETS SQUARE --test NEW", "rows TARGETS SQUARE",
	} {
		if testing.Short() && i%2 > 0 {
			continue // the run without -short has it
		}
		line = goldenLine(tables, line)
		const endless = 1 << 40
		whole := testutil.EndAfter(endless)
		if o := driveWith(whole, "", words(line)...); o.status != exitDone {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
			continue
		}
		all := endless - whole.Left()
		places := []int{1, all / 2, all - 3}
		if !testing.Short() {
			places = append(places, 0, all/4, all*3/4)
		}
		for _, looks := range places {
			o := driveWith(testutil.EndAfter(looks), "", words(line)...)
			if said := o.stdout + o.stderr; o.status != exitInterrupted ||
				strings.Contains(said, "context canceled") || !strings.Contains(o.stderr, "interrupted") {
				t.Errorf("%s, after %d of %d looks: status %d, %s", line, looks, all, o.status, said)
			}
		}
	}
}

// TestInterruptedLeavingOut: the answer says that it is partial, and how many examples it is of, without
// warnings, too.
func TestInterruptedLeavingOut(t *testing.T) {
	for _, method := range []string{"exact", "all"} {
		for _, quiet := range []string{"", "--quiet"} {
			line := words("loo synthetic:blobs,n=400,d=3 --loss hinge --C 1 --length-scale 2",
				quiet, "--method", method)
			output := func(more ...string) string {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var out bytes.Buffer
				a := newApp(ctx, append(line, more...), strings.NewReader(""), &out, io.Discard)
				a.console.Watch = func(done, total int) {
					if total == 400 && done == 3 {
						cancel()
					}
				}
				if status := a.run(); status != exitInterrupted {
					t.Errorf("status %d", status)
				}
				return out.String()
			}
			if text := output(); !strings.Contains(text, "status          cancelled\n") ||
				!strings.Contains(text, " of 400 rows") {
				t.Errorf("%s", text)
			}
			d := parse[report.Answer](t, output("--json", "-"))
			if d.Status != "cancelled" || d.Retrained < 3 || d.Retrained > 100 {
				t.Errorf("%s, %d retrained", d.Status, d.Retrained)
			}
		}
	}
}

// TestGiveUp: an interrupted run ends at the limit of its step, unless some of its answer is finished.
func TestGiveUp(t *testing.T) {
	limit := make(chan time.Time)
	close(limit)
	for _, c := range []struct {
		line        string
		done, total int // progress at the limit; total 0: the end
		ends        bool
	}{
		{on("estimate"), 0, 1, true},
		{on("retrain --resamples 7"), 0, 1, true},
		{on("retrain --resamples 7"), 1, 7, false},
		{on("tune --over noise"), 0, 1, true},
		{"datasets", 0, 0, false},
	} {
		var said bytes.Buffer
		reached, status := false, 0
		a := newApp(t.Context(), words(c.line), strings.NewReader(""), io.Discard, &said)
		limited := func(done, total int) {
			if !reached && done == c.done && total == c.total {
				reached = true
				giveUp(a, limit, func(s int) { status = s })
			}
		}
		a.console.Watch = limited
		a.run()
		limited(0, 0)
		if !reached || (status == exitInterrupted) != c.ends || c.ends != strings.Contains(said.String(),
			"bootbench: interrupted before anything was finished\n") {
			t.Errorf("%s at %d of %d: reached %v, status %d, %s", c.line, c.done, c.total, reached, status,
				said.String())
		}
	}
}
