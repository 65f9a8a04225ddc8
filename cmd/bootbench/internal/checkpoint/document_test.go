package checkpoint

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/need"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
	"bootbench/tune"
)

// odd are numbers that a careless format would lose.
var odd = []float64{0, math.Copysign(0, -1), 1, 0.1, -1.0 / 3, math.Pi * 1e-200, 5e-324, math.MaxFloat64,
	1 + 0x1p-52}

// oddCheckpoint has them everywhere.
func oddCheckpoint() *Document {
	at := solver.Iterate{Cavities: odd, SiteParams: solver.SiteParams{D: odd, G: odd, U: odd}, Residual: 0.1}
	return &Document{
		Data: Data{"a set", 9, 2, "0123"}, Settings: model.Fingerprint{}.With("--ratio", 1).With("--length-scale",
			""),
		Results: []*report.Estimate{{Command: "estimate", Points: &report.Points{Mean: odd},
			Warnings: []string{"a \"word\"\n"}}},
		Judged: []tune.Evaluation{{Values: odd, Gradient: odd}},
		From:   &Start{odd, []loss.Cavity{{C: 0.1, Mean: 5e-324, Var: math.MaxFloat64}}},
		State: &solver.State{Iterate: at, Next: odd, Monitor: solver.Monitor{StepLength: 1},
			Search: &solver.Search{History: odd,
				Continuation: &solver.Continuation{Last: odd, Previous: odd, Origin: at}}},
	}
}

// TestCheckpointReadsBack: every number of a checkpoint reads back to the same bits.
func TestCheckpointReadsBack(t *testing.T) {
	d := oddCheckpoint()
	content := need.One(d.encode())(t)
	back := need.One(decode(content))(t)
	s, c := back.State, back.State.Search.Continuation
	for _, list := range [][]float64{s.D, s.Next, s.Cavities, s.G, s.U, back.State.Search.History, c.Last,
		c.Previous, c.Origin.Cavities, c.Origin.D, c.Origin.G,
		c.Origin.U, back.From.D, back.Results[0].Points.Mean, back.Judged[0].Values, back.Judged[0].Gradient} {
		if !slices.EqualFunc(list, odd,
			func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%v reads back as %v", odd, list)
		}
	}
	if again, err := back.encode(); err != nil || !bytes.Equal(content, again) {
		t.Errorf("written again it is another file: %v", err)
	}
	d.State.D = []float64{math.NaN()}
	if _, err := d.encode(); err == nil {
		t.Error("a checkpoint with NaN is written")
	}
}

// TestCheckpointDamage: cut short anywhere, with anything after it, or with any one
// bit turned, a checkpoint is refused.
func TestCheckpointDamage(t *testing.T) {
	content := need.One(oddCheckpoint().encode())(t)
	for size := range content {
		if _, err := decode(content[:size]); !errors.Is(err, files.ErrCutShort) {
			t.Fatalf("%d bytes of %d: %v", size, len(content), err)
		}
	}
	if _, err := decode(append(slices.Clone(content), ' ')); err == nil {
		t.Error("one byte too many passes")
	}
	for bit := range 8 * len(content) {
		damaged := slices.Clone(content)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, err := decode(damaged); err == nil {
			t.Fatalf("bit %d of byte %d turned: it passes", bit%8, bit/8)
		}
	}
	for text, want := range map[string]string{
		"": "is cut short", "bootbench check": "is cut short", "a,b\n1,2\n": "is no checkpoint",
		strings.Replace(string(content), "checkpoint 2", "checkpoint 3",
			1): "is of version 3, this program reads version 2",
		"bootbench checkpoint 2 2\n{}":         "is damaged",
		string(seal.Head([]byte("{]"))) + "{]": "is damaged",
	} {
		if _, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
