package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
)

// checkpoint keeps a solve, or a row of them, in a file, and takes it up again.
// Its zero value keeps nothing.
type checkpoint struct {
	path    string // "": nothing is kept
	resume  bool
	doc     checkpointDocument  // of this run
	found   *checkpointDocument // what the file held; nil: a fresh start
	state   *solver.State       // of the solve in progress that was found, until it goes on
	written time.Time
	took    time.Duration
	pending bool // doc is newer than the file
	eager   bool // write after every sweep, however short: for tests
	failed  error
	replace func(path string, content []byte) error // replaceFile, or a test's
	warn    func(texts []string)
}

// A checkpoint is written after every sweep, but not twice a second, and not so
// often that writing takes more than a small share of the time.
const (
	checkpointPause = time.Second
	checkpointShare = 20 // times what writing the last one took
)

// registerCheckpoint adds the flags of a checkpoint.
func (s *session) registerCheckpoint(cmd *cobra.Command) {
	c := &s.checkpoint
	if c.warn = s.warn; c.replace == nil {
		c.replace = replaceFile
	}
	f := cmd.Flags()
	f.StringVar(&c.path, "checkpoint", "", "after every sweep, once a second at most, keep in `FILE` what --resume needs; a checkpoint that is there is replaced; default: none")
	f.BoolVar(&c.resume, "resume", false, "go on from --checkpoint, whose data and settings must be the same but for --tol and --max-sweeps (curve: those too); default: start afresh, as where there is no FILE yet")
}

// check refuses a file that cannot be written, or taken up, before any work.
func (s *session) checkCheckpoint() error {
	c := &s.checkpoint
	switch {
	case c.path == "" && c.resume:
		return usagef("--resume needs --checkpoint FILE")
	case c.path == "":
		return nil
	case s.study.wanted != "":
		return usagef("--checkpoint: parts of a study keep what they finish in --out")
	case s.ranks != nil && s.ranks.Rank() > 0:
		return nil // rank 0 looks for all
	}
	if target, err := filepath.EvalSymlinks(c.path); err == nil {
		c.path = target
	}
	if err := s.checkFile("checkpoint", c.path); err != nil {
		return err
	}
	if err := clearPartial(c.path); err != nil {
		return usagef("--checkpoint: %w", err)
	}
	if info, err := os.Stat(c.path); err == nil && !info.Mode().IsRegular() {
		return usagef("--checkpoint: %s is no regular file", c.path)
	}
	content, err := os.ReadFile(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.resume && !s.quiet {
			fmt.Fprintf(s.stderr, "bootbench: there is no %s yet: starting afresh\n", c.path)
		}
		return nil
	case err != nil:
		return usagef("--checkpoint: %w", err)
	case !c.resume:
		return c.mayReplace(content)
	}
	if c.found, err = decodeCheckpoint(content); err != nil {
		return usagef("--resume: %s %w", c.path, err)
	}
	return nil
}

// mayReplace refuses to write over what is no checkpoint.
func (c *checkpoint) mayReplace(content []byte) error {
	if _, err := decodeCheckpoint(content); errors.Is(err, errNoCheckpoint) {
		return usagef("--checkpoint: %s %w, and is not replaced", c.path, err)
	}
	return nil
}

// about notes something that decides what is solved.
func (c *checkpoint) about(name string, value any) {
	c.doc.Settings = append(c.doc.Settings, setting{name, fmt.Sprint(value)})
}

// aboutSolve notes that there is one solve, and how it is done. Which command prints
// it does not matter.
func (c *checkpoint) aboutSolve(settings solver.Settings) {
	c.about("command", "estimate or predict")
	c.about("--method", settings.Method)
}

// aboutCurve notes the solves of a curve and, since their answers are kept, what
// these depend on.
func (c *checkpoint) aboutCurve(settings solver.Settings, r *schemeFlags, ratios []float64, t *testFlags) {
	c.about("command", "curve")
	c.about("--method", settings.Method)
	c.aboutScheme(r, strings.Trim(fmt.Sprint(ratios), "[]"))
	c.about("--tol", settings.Tolerance)
	c.about("--max-sweeps", settings.MaxSweeps)
	c.about("--test-loss", t.test)
	c.about("--level", t.level)
	c.about("--no-points", t.noPoints)
}

// aboutScheme notes how examples are redrawn.
func (c *checkpoint) aboutScheme(r *schemeFlags, ratio string) {
	c.about("--scheme", r.scheme)
	if r.scheme == "kfold" {
		c.about("--folds", r.folds)
	} else {
		c.about("--ratio", ratio)
	}
}

// aboutModel notes the model, defaults written out.
func (c *checkpoint) aboutModel(spec model.Spec, m *modelFlags) {
	number := func(name string, v float64) { c.about(name, strconv.FormatFloat(v, 'g', -1, 64)) }
	c.about("--loss", spec.Loss.Name())
	for _, name := range lossFlagNames[1:] {
		if v := *parameter(&m.used, name); v != 0 {
			number("--"+name, v)
		}
	}
	k := kernelReport(spec.Kernel, spec.Set.D())
	c.about("--kernel", k.Kind)
	number("--gamma", k.Gamma)
	c.about("--length-scale", strings.Trim(fmt.Sprint(k.LengthScale), "[]"))
	c.about("--degree", k.Degree)
	number("--coef0", k.Coef0)
	number("--amplitude", k.Amplitude)
	number("--constant", k.Constant)
	number("--jitter", k.Jitter)
	c.about("--no-standardize", !spec.Standardize)
	c.about("--engine", spec.Storage)
	number("--rank-tol", spec.RankTol)
	c.about("--max-rank", spec.MaxRank)
}

// belongs refuses a checkpoint of other data or other settings, before the kernel
// matrix is computed.
func (s *session) belongs(spec model.Spec, m *modelFlags) error {
	c := &s.checkpoint
	if c.path == "" {
		return nil
	}
	set := spec.Set
	c.doc.Data = dataPrint{set.Name, set.N(), set.D(), set.Digest()}
	c.aboutModel(spec, m)
	if c.found == nil {
		return nil
	}
	if was := c.found.Data; was.Digest != c.doc.Data.Digest {
		return usagef("--resume: %s is of other data: %s with %d examples of %d features, checksum %s, where %s has %d of %d, checksum %s",
			c.path, was.Name, was.N, was.D, was.Digest, set.Name, set.N(), set.D(), c.doc.Data.Digest)
	}
	if changes := changed(c.found.Settings, c.doc.Settings); len(changes) > 0 {
		return usagef("--resume: %s is of other settings: %s", c.path, strings.Join(changes, "; "))
	}
	c.doc.Results, c.doc.From = c.found.Results, c.found.From
	c.state = c.found.State
	if !s.quiet {
		fmt.Fprintf(s.stderr, "bootbench: going on from %s: %s\n", c.path, c.found.progress())
	}
	return nil
}

// progress says how far a checkpoint has come.
func (d *checkpointDocument) progress() string {
	var parts []string
	if len(d.Results) > 0 {
		parts = append(parts, fmt.Sprintf("%d ratios are finished", len(d.Results)))
	}
	if d.State != nil {
		parts = append(parts, fmt.Sprintf("sweep %d, residual %.1e", d.State.Stats.Sweeps, d.State.Residual))
	}
	return strings.Join(parts, ", ")
}

// changed names the settings that differ.
func changed(was, is []setting) []string {
	values := func(list []setting) map[string]string {
		byName := map[string]string{}
		for _, s := range list {
			byName[s.Name] = s.Value
		}
		return byName
	}
	old, now := values(was), values(is)
	var changes []string
	for _, s := range is {
		if v, ok := old[s.Name]; v != s.Value {
			changes = append(changes, fmt.Sprintf("%s is %s, was %s", s.Name, shown(s.Value, true), shown(v, ok)))
		}
	}
	for _, s := range was {
		if _, ok := now[s.Name]; !ok {
			changes = append(changes, fmt.Sprintf("%s is %s, was %s", s.Name, shown("", false), shown(s.Value, true)))
		}
	}
	return changes
}

// shown is the value of a setting, which may not be there or be empty.
func shown(value string, there bool) string {
	switch {
	case !there:
		return "not set"
	case value == "":
		return "empty"
	}
	return value
}

// enter makes a solve keep its State, and go on from the one that was found.
func (c *checkpoint) enter(settings *solver.Settings) {
	if c.path == "" {
		return
	}
	settings.Checkpoint = c.keep
	settings.Resume, c.state = c.state, nil
}

// keep notes the State of a solve, and writes it if the last writing is long ago.
func (c *checkpoint) keep(state *solver.State) error {
	c.doc.State, c.pending = state, true
	if !c.eager && time.Since(c.written) < max(checkpointPause, checkpointShare*c.took) {
		return nil
	}
	return c.write()
}

// leave writes what is not written yet, and says in a warning of the solution if
// that fails.
func (c *checkpoint) leave(solution *solver.Solution) {
	if !c.pending || c.path == "" {
		return
	}
	if err := c.write(); err != nil && solution != nil {
		solution.Warnings = append(solution.Warnings, fmt.Sprintf("the last checkpoint could not be kept: %v", err))
	}
}

// write writes the file. The user hears of the first failure at once: there may be
// time to make room.
func (c *checkpoint) write() error {
	began := time.Now()
	content, err := c.doc.encode()
	if err == nil {
		err = c.replace(c.path, content)
	}
	if err != nil && c.failed == nil {
		c.warn([]string{fmt.Sprintf("--checkpoint: %v; the solve goes on", err)})
	}
	c.pending, c.failed = err != nil, err
	c.written = time.Now()
	c.took = c.written.Sub(began)
	return err
}

// result is the answer that was found for ratio number i of a curve, if there is
// one.
func (c *checkpoint) result(i int) *report.Estimate {
	if c.found == nil || i >= len(c.found.Results) {
		return nil
	}
	return c.found.Results[i]
}

// start is the solution that the first ratio that is not finished starts from.
func (c *checkpoint) start() *solver.Solution {
	if c.doc.From == nil {
		return nil
	}
	return &solver.Solution{SitePrecision: c.doc.From.D, Cavity: c.doc.From.Cavity}
}

// finish notes the answer for a ratio of a curve, and the solution that the next
// one starts from, if any.
func (c *checkpoint) finish(e *report.Estimate, from *solver.Solution) {
	if c.path == "" {
		return
	}
	c.doc.Results, c.doc.From, c.doc.State = append(c.doc.Results, e), nil, nil
	if from != nil {
		c.doc.From = &neighbour{from.SitePrecision, from.Cavity}
	}
	if err := c.write(); err != nil {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the checkpoint could not be kept: %v", err))
	}
}
