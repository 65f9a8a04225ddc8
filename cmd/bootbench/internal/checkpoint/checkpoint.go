package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/report"
	"bootbench/solver"
	"bootbench/tune"
)

// Keeper keeps what a run has solved so far. A nil Keeper keeps nothing.
type Keeper struct {
	path    string
	doc     Document      // of this run
	found   *Document     // what the file held; nil: a fresh start
	state   *solver.State // of the solve in progress that was found, until it goes on
	options Options
	pending bool // doc is newer than the file
	failed  error
	written time.Time
	took    time.Duration // writing the last one
	release func()        // the lock; nil: this process writes nothing
}

// Options of a Keeper.
type Options struct {
	Version string                                  // of the program
	Note    func(format string, args ...any)        // tells the user what is done
	Warn    func(texts ...string)                   // and what fails
	Replace func(path string, content []byte) error // writes the file; default files.ReplaceDurably
	Eager   bool                                    // write after every sweep, however short
}

// A checkpoint is written after every sweep, but not twice a second, and not so
// often that writing takes more than a small share of the time.
const (
	pause        = time.Second
	shareOfTimes = 20 // times what writing the last one took
)

// Open looks for the checkpoint of a path, to be replaced, or to go on from with
// resume. It refuses a file that cannot be written or taken up, or that another run
// holds; Close gives it back.
func Open(path string, resume bool, o Options) (*Keeper, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	k := newKeeper(path, o)
	if err := files.CheckWritable("checkpoint", path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, usage.Errorf("--checkpoint: %s is no regular file", path)
	}
	release, err := files.Hold(path)
	if err != nil {
		return nil, usage.Errorf("--checkpoint: %s %w", path, err)
	}
	k.release = release
	if err := k.take(resume); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// take looks at the file and what lies beside it, which no other run writes.
func (k *Keeper) take(resume bool) error {
	if err := files.Sweep(k.path); err != nil {
		return usage.Errorf("--checkpoint: %w", err)
	}
	if err := checkFits(k.path); err != nil {
		return err
	}
	content, err := os.ReadFile(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if resume {
			k.options.Note("there is no %s yet: starting afresh", k.path)
		}
		return nil
	case err != nil:
		return usage.Errorf("--checkpoint: %w", err)
	case !resume:
		if err := mayReplace(content); err != nil {
			return usage.Errorf("--checkpoint: %s %w, and is not replaced", k.path, err)
		}
		return nil
	}
	if k.found, err = decode(content); err != nil {
		return usage.Errorf("--resume: %s %w", k.path, err)
	}
	return nil
}

// Close lets other runs have the file.
func (k *Keeper) Close() {
	if k != nil && k.release != nil {
		k.release()
		k.release = nil
	}
}

func newKeeper(path string, o Options) *Keeper {
	if o.Replace == nil {
		o.Replace = files.ReplaceDurably
	}
	return &Keeper{path: path, options: o, doc: Document{Version: o.Version}}
}

// Found is the content of the checkpoint to go on from, for Follow on other ranks;
// empty where there is none.
func (k *Keeper) Found() ([]byte, error) {
	if k.found == nil {
		return nil, nil
	}
	return k.found.encode()
}

// Follow is a Keeper that writes nothing, for the ranks beside the one that does. It
// goes on from the content that Found gave there.
func Follow(path string, content []byte, o Options) (k *Keeper, err error) {
	o.Replace = func(string, []byte) error { return nil }
	k = newKeeper(path, o)
	if len(content) > 0 {
		k.found, err = decode(content)
	}
	return k, err
}

// Begin says what is solved, and refuses to go on from a checkpoint of other data or
// other settings.
func (k *Keeper) Begin(d Document) error {
	if k == nil {
		return nil
	}
	k.doc.Data, k.doc.Settings = d.Data, d.Settings
	if k.found == nil {
		return nil
	}
	if was, is := k.found.Data, d.Data; was.Digest != is.Digest {
		return usage.Errorf("--resume: %s is of other data: %s with %d examples of %d features, checksum %s, where %s has %d of %d, checksum %s",
			k.path, was.Name, was.N, was.D, was.Digest, is.Name, is.N, is.D, is.Digest)
	}
	if changes := d.Settings.Changes(k.found.Settings); len(changes) > 0 {
		return usage.Errorf("--resume: %s is of other settings: %s", k.path, strings.Join(changes, "; "))
	}
	k.doc.Results, k.doc.From, k.doc.Judged, k.state = k.found.Results, k.found.From, k.found.Judged,
		k.found.State
	k.options.Note("going on from %s: %s", k.path, k.found.progress())
	return nil
}

// Enter makes a solve keep its State, and go on from the one that was found.
func (k *Keeper) Enter(settings *solver.Settings) {
	if k == nil {
		return
	}
	settings.Checkpoint = k.keep
	settings.Resume, k.state = k.state, nil
}

// keep notes the State of a solve, and writes it if the last writing is long ago.
func (k *Keeper) keep(state *solver.State) error {
	k.doc.State = state
	return k.soon()
}

// soon writes what was noted if the last writing is long ago.
func (k *Keeper) soon() error {
	k.pending = true
	if !k.options.Eager && time.Since(k.written) < max(pause, shareOfTimes*k.took) {
		return nil
	}
	return k.write()
}

// Judged are the models that a search has judged before.
func (k *Keeper) Judged() []tune.Evaluation {
	if k == nil || k.found == nil {
		return nil
	}
	return k.found.Judged
}

// Judge notes the models that a search has judged so far; a failure to write is told, and the
// search goes on.
func (k *Keeper) Judge(path []tune.Evaluation) {
	if k == nil || len(path) < len(k.Judged()) {
		return
	}
	k.doc.Judged = path
	_ = k.soon()
}

// Leave writes what is not written yet, and says in a warning of the solution if
// that fails.
func (k *Keeper) Leave(solution *solver.Solution) {
	if k == nil || !k.pending {
		return
	}
	if err := k.write(); err != nil && solution != nil {
		solution.Warnings = append(solution.Warnings, fmt.Sprintf("the last checkpoint could not be kept: %v", err))
	}
}

// write writes the file. The user hears of the first failure at once: there may be
// time to make room.
func (k *Keeper) write() error {
	began := time.Now()
	content, err := k.doc.encode()
	if err == nil {
		err = k.options.Replace(k.path, content)
	}
	if err != nil && k.failed == nil {
		k.options.Warn(fmt.Sprintf("--checkpoint: %v; the solve goes on", err))
	}
	k.pending, k.failed = err != nil, err
	k.written = time.Now()
	k.took = k.written.Sub(began)
	return err
}

// Result is the answer that was found for ratio number i of a curve, if there is
// one.
func (k *Keeper) Result(i int) *report.Estimate {
	if k == nil || k.found == nil || i >= len(k.found.Results) {
		return nil
	}
	return k.found.Results[i]
}

// Start is the solution that the first ratio that is not finished starts from.
func (k *Keeper) Start() *solver.Solution {
	if k == nil || k.doc.From == nil {
		return nil
	}
	return &solver.Solution{SitePrecision: k.doc.From.D, Cavity: k.doc.From.Cavity}
}

// Finish notes the answer for a ratio of a curve, and the solution that the next
// one starts from, if any.
func (k *Keeper) Finish(e *report.Estimate, from *solver.Solution) {
	if k == nil {
		return
	}
	k.doc.Results, k.doc.From, k.doc.State = append(k.doc.Results, e), nil, nil
	if from != nil {
		from = from.Whole()
		k.doc.From = &Start{from.SitePrecision, from.Cavity}
	}
	if err := k.write(); err != nil {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the checkpoint could not be kept: %v", err))
	}
}
