package main

import (
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

// bars is the progress bar on a terminal. The zero value draws nothing.
type bars struct {
	w        *os.File // nil: draw nothing
	progress *mpb.Progress
	bar      *mpb.Bar
	mu       sync.Mutex
	label    string
}

// newBars draws on stderr if that is a terminal and quiet is not asked for.
func newBars(stderr io.Writer, quiet bool) *bars {
	f, ok := stderr.(*os.File)
	if quiet || !ok || !cwriter.IsTerminal(int(f.Fd())) {
		return &bars{}
	}
	return &bars{w: f}
}

// show draws done of total under a label.
func (b *bars) show(label string, done, total int) {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	b.label = label
	b.mu.Unlock()
	if b.bar == nil {
		b.begin()
	}
	b.bar.SetTotal(int64(max(total, 1)), false)
	b.bar.SetCurrent(int64(done))
}

func (b *bars) begin() {
	options := []mpb.ContainerOption{mpb.WithOutput(b.w), mpb.WithWidth(40)}
	if width, height, err := cwriter.GetSize(int(b.w.Fd())); err != nil || width == 0 || height == 0 {
		// A terminal that does not know its size: hide that it is one, or nothing
		// would fit into it.
		options = []mpb.ContainerOption{mpb.WithOutput(struct{ io.Writer }{b.w}), mpb.WithWidth(80), mpb.WithAutoRefresh()}
	}
	b.progress = mpb.New(options...)
	text := func(decor.Statistics) string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.label + " "
	}
	// A total of 0 keeps the bar from ending by itself; clear ends it.
	b.bar = b.progress.AddBar(0, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(text)),
		mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_GO)))
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
