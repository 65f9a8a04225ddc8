package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
)

// tasks are the stored tasks of a command, and this process's part of them.
type tasks struct {
	*journal.Journal // nil: nothing is stored
	folder           string
	// --shard: this process does the tasks whose number is part.of modulo part.count
	part    part
	merging bool     // all tasks are looked up, none computed
	digests []string // of the data read so far
	missing []string // names of tasks that merge lacks
	lacking []int    // their shards
}

// part is a process's part of the tasks by --shard; the zero value is all.
type part struct{ of, count int }

func (p *part) read(text string) (string, error) {
	_, err := fmt.Sscanf(text, "%d/%d", &p.of, &p.count)
	if err != nil || p.of < 0 || p.of >= p.count || text != fmt.Sprintf("%d/%d", p.of, p.count) {
		return "", fmt.Errorf("%q is not I/N with I from 0 to N-1", text)
	}
	return text, nil
}

func (s *tasks) sharded() bool { return s.part.count > 1 }

func (s *tasks) owns(number int) bool { return !s.merging && number%max(1, s.part.count) == s.part.of }

// openJournal opens the command's journal after its data were read, with the settings of a problem.
func (a *app) openJournal(p *problem) {
	s := &a.tasks
	switch {
	case s.merging:
		steps.Check(s.Head.CheckData(s.digests))
		return
	case a.options.shard.count > 0 && a.options.journal == "":
		refuse("--shard needs --journal, the folder where finished tasks are kept")
	case a.options.journal == "":
		return
	}
	s.folder, s.part = a.options.journal, a.options.shard
	chosen, given := p.settings(isRecorded)
	head := journal.Head{Version: report.Version(), Command: a.command.name, Data: a.data,
		Chosen: p.choice.by, Settings: append(chosen, given...), Digests: s.digests,
		Shards: max(1, s.part.count), Folder: steps.Must(os.Getwd())}
	slices.SortStableFunc(head.Settings, func(a, b string) int { // a list keeps its order
		name, _, _ := strings.Cut(a, "=")
		other, _, _ := strings.Cut(b, "=")
		return cmp.Compare(name, other)
	})
	s.Journal = steps.Must(journal.Open(s.folder, head, s.part.of, a.console.Warn))
	if s.Count() > 0 {
		a.console.Note("%s has %d finished tasks", s.folder, s.Count())
	}
}

// isRecorded reports whether a flag changes an answer, so that a journal records it.
func isRecorded(name string) bool {
	return !slices.Contains(slices.Concat(flagLists["outputs"], flagLists["incidental"]), name)
}

// keyOf encodes everything that a task depends on.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16])
}

// require records a task that merge lacks.
func (s *tasks) require(number int, name, key string) {
	if s.merging && !s.Has(key) {
		s.missing, s.lacking = append(s.missing, name), append(s.lacking, number%max(1, s.Head.Shards))
	}
}

// doAll is do for a task that all processes need: each computes it that does not find it in the journal.
func (s *tasks) doAll(name, key string, result any, compute func()) {
	if s.Lookup(key, result) {
		return
	}
	if s.require(0, name, key); s.merging {
		steps.Check(fits.ErrElsewhere)
	}
	if compute(); s.owns(0) {
		s.Append(key, result)
	}
}

// do sets the result of a task, a pointer to a zero value, from the journal or by computing it, unless the
// task is another process's.
func (s *tasks) do(number int, key string, result any, compute func()) (filled bool) {
	switch own := s.owns(number); {
	case (s.merging || own) && s.Lookup(key, result):
		return true
	case !own:
		return false
	}
	compute()
	s.Append(key, result)
	return true
}

// elsewhere ends a shard, with a summary, or a merge with missing tasks, with an error.
func (a *app) elsewhere() {
	s := &a.tasks
	switch {
	case s.merging:
		steps.Check(s.incomplete())
	case s.Lost > 0:
		steps.Check(fmt.Errorf("%d tasks could not be kept in %s: make room and run shard %d of %d again",
			s.Lost, s.folder, s.part.of, s.part.count))
	}
	a.print(func(w io.Writer) error {
		_, err := fmt.Fprintf(w,
			"shard %d of %d has done its tasks; bootbench merge %s prints the answer of all\n",
			s.part.of, s.part.count, shellWords(s.folder))
		return err
	})
}

// incomplete names the missing tasks, with a cure.
func (s *tasks) incomplete() error {
	const shown = 5
	names, count := s.missing, len(s.missing)
	if count > shown {
		names = append(names[:shown:shown], fmt.Sprintf("and %d more", count-shown))
	}
	cure := "run the command line of the journal again"
	if s.Head.Shards > 1 {
		slices.Sort(s.lacking)
		shards := strings.Fields(fmt.Sprint(slices.Compact(s.lacking)))
		cure = fmt.Sprintf("run again: shards %s of %d", strings.Trim(strings.Join(shards, ", "), "[]"),
			s.Head.Shards)
	}
	return fmt.Errorf("%d tasks are missing: %s: %s", count, strings.Join(names, "; "), cure)
}

// place is the path of a file that the merged journal names.
func (s *tasks) place(path string) string {
	if s.merging && !filepath.IsAbs(path) && !slices.Contains(dataset.Names(), path) {
		there := filepath.Join(s.Head.Folder, path)
		if names, err := dataset.Files(there); err == nil {
			if _, err := os.Stat(names[0]); err == nil {
				return there
			}
		}
	}
	return path
}

// runMerge runs the command of journals with all its tasks looked up. merge's flags determine the outputs.
func runMerge(a *app, _ *options, folders []string) {
	a.tasks.Journal = steps.Must(journal.Read(folders, a.console.Warn))
	a.tasks.merging = true
	head := &a.tasks.Head
	if head.Version != report.Version() {
		refuse("%s is of version %s of the program, this is %s: run its command line again, "+
			"with another folder", folders[0], head.Version, report.Version())
	}
	c, _, err := a.root.Find([]string{head.Command})
	if err != nil || c.Flags().Lookup("shard") == nil {
		refuse("the journal is of %q, which is no command that can be split: run its command "+
			"line again with --journal", head.Command)
	}
	c.InheritedFlags() // are of the command from here on
	steps.Check(take(c.Flags(), head.Settings))
	steps.Check(c.ValidateArgs(head.Data))
	steps.Check(a.process.bind())
	steps.Check(c.RunE(c, head.Data))
}

// blockResamples is the number of resamples in one task: a multiple of a block's, so that fits do not depend
// on which tasks are done.
const blockResamples = 2 * fits.BlockSize

// blockFolds is the number of folds of a task of a cross-validation, which has few fits, and trains them in
// smaller blocks if they take long.
const blockFolds = fits.BlockSize / 4

// keptFit is the predictions of one resample, or the reason for none.
type keptFit struct {
	F       []byte  `json:",omitempty"` // float64, little-endian
	Why     string  `json:",omitempty"` // training did not converge
	Seconds float64 `json:",omitempty"` // of the first fit of a task: from the end of the task before
}

// heldBlocks bounds the cached blocks: workers look up fits that are near each other.
const heldBlocks = 8

// fitKeeper is the fits.Memory of a journal, a task of blockResamples at a time.
type fitKeeper struct {
	app       *app
	key, name string
	size      int // of a task
	mutex     sync.Mutex
	known     map[int][]keptFit // by number of the task
	making    []keptFit         // of task number
	number    int
	mark      time.Time       // when the last task of this process ended
	seconds   map[int]float64 // of the tasks that were looked up
}

// keepFits keeps the exact fits of a study in the journal, if there is one.
func (a *app) keepFits(s *answer.Study) {
	if a.tasks.Journal == nil {
		return
	}
	size, unit := blockResamples, "resamples"
	if a.command.name == "cv" {
		size, unit = blockFolds, "folds"
	}
	s.Memory = func(key string, outputs, count int) (fits.Memory, error) {
		k := &fitKeeper{app: a, key: key, name: s.Model.Set.Name, size: size, known: map[int][]keptFit{},
			mark: time.Now(), seconds: map[int]float64{}}
		for number := range (count + size - 1) / size {
			first := number * size
			name := fmt.Sprintf("%s %d to %d of %s", unit, first+1, min(first+size, count), k.name)
			a.tasks.require(number, name, k.task(number))
		}
		if len(a.tasks.missing) > 0 {
			return nil, fits.ErrElsewhere
		}
		return k, nil
	}
}

func (k *fitKeeper) task(number int) string {
	return keyOf(k.key, fmt.Sprintf("block %d of %d resamples", number, k.size))
}

// Recall implements fits.Memory.
func (k *fitKeeper) Recall(b int, f []float64) (known bool, err error) {
	number, at := b/k.size, b%k.size
	k.mutex.Lock()
	defer k.mutex.Unlock()
	block := k.block(number)
	switch {
	case block == nil && k.app.tasks.merging:
		return false, fmt.Errorf("resample %d of %s is missing from the journal", b+1, k.name)
	case block == nil && !k.app.tasks.owns(number):
		return false, fits.ErrElsewhere
	case at >= len(block):
		return false, nil
	case block[at].Why != "":
		return true, &fits.UnconvergedError{Err: errors.New(block[at].Why)}
	}
	_, err = binary.Decode(block[at].F, binary.LittleEndian, f)
	return err == nil, nil // a fit of another size is recomputed
}

func (k *fitKeeper) block(number int) []keptFit {
	var fits []keptFit
	if k.known[number] == nil && k.app.tasks.Lookup(k.task(number), &fits) {
		maps.DeleteFunc(k.known, func(other int, _ []keptFit) bool { return other <= number-heldBlocks })
		k.known[number], k.seconds[number] = fits, fits[0].Seconds
	}
	return k.known[number]
}

// Remember implements fits.Memory: it stores a task when it has its last resample.
func (k *fitKeeper) Remember(b int, f []float64, skipped error) {
	number, at := b/k.size, b%k.size
	tasks := &k.app.tasks
	if !tasks.owns(number) || tasks.Has(k.task(number)) || at > 0 && at != len(k.making) {
		return
	}
	if at == 0 {
		k.making = nil
	}
	fit := keptFit{}
	if skipped != nil {
		fit.Why = skipped.Error()
	} else {
		fit.F, _ = binary.Append(nil, binary.LittleEndian, f) // no error for float64
	}
	k.making, k.number = append(k.making, fit), number
	if at == k.size-1 {
		k.store()
	}
}

func (k *fitKeeper) store() {
	if k.making != nil {
		k.making[0].Seconds, k.mark = time.Since(k.mark).Seconds(), time.Now()
		k.app.tasks.Append(k.task(k.number), k.making)
		k.making = nil
	}
}

// Close implements fits.Memory: it stores the last task of a complete run.
func (k *fitKeeper) Close(complete bool) (recalled time.Duration, err error) {
	if complete {
		k.store()
	}
	if k.app.tasks.sharded() {
		return 0, cmp.Or(k.app.ctx.Err(), fits.ErrElsewhere)
	}
	for _, s := range k.seconds {
		recalled += time.Duration(s * float64(time.Second))
	}
	return recalled, nil
}
