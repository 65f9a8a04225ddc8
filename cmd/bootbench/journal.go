package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
)

// tasks are what a command keeps of its work, and what it does of it.
type tasks struct {
	*journal.Journal // nil: nothing is kept
	folder           string
	part             partValue // --shard: this process does the tasks whose number is part.of modulo part.count
	merging          bool      // none is done, all are looked up
	digests          []string  // of the data that were read so far
	missing          []missingTask
}

// missingTask is one that is not finished.
type missingTask struct {
	number    int
	name, key string
}

// partValue is the value of --shard; the zero value is the whole.
type partValue struct{ of, count int }

// Set reads I/N.
func (p *partValue) Set(text string) error {
	n, err := fmt.Sscanf(text, "%d/%d", &p.of, &p.count)
	if n < 2 || err != nil || p.of < 0 || p.of >= p.count || text != p.String() {
		return fmt.Errorf("%q is not I/N with I from 0 to N-1", text)
	}
	return nil
}
func (p *partValue) String() string {
	if p.count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.of, p.count)
}
func (p *partValue) Type() string { return "part" }

// sharded reports whether other processes have tasks, too.
func (s *tasks) sharded() bool { return s.part.count > 1 }

// owns reports whether a task is this process's.
func (s *tasks) owns(number int) bool { return !s.merging && number%max(1, s.part.count) == s.part.of }

// openJournal takes up and begins the journal that a command asks for, once it has read its data; chosen is
// what a search has chosen for it.
func (a *app) openJournal(chosen choice) (err error) {
	s := &a.tasks
	switch {
	case s.merging:
		return s.Head.CheckData(s.digests)
	case a.options.shard.count > 0 && a.options.journal == "":
		return usage.Errorf("--shard needs --journal, the folder where finished tasks are kept")
	case a.options.journal == "":
		return nil
	}
	s.folder, s.part = a.options.journal, a.options.shard
	head := journal.Head{Version: version(), Command: a.command.name, Data: a.data, Chosen: chosen.by,
		Settings: append(slices.Clone(chosen.settings), a.options.settings(isRecorded)...),
		Digests:  s.digests, Shards: max(1, s.part.count)}
	slices.Sort(head.Settings)
	if head.Folder, err = os.Getwd(); err != nil {
		return err
	}
	s.Journal, err = journal.Open(s.folder, head, s.part.of, func(text string) { a.console.Warn(text) })
	if err == nil && s.Count() > 0 {
		a.console.Note("%s has %d finished tasks", s.folder, s.Count())
	}
	return err
}

// outputFlags name files that a command writes.
var outputFlags = []string{"model", "json", "out", "csv", "covariance", "replicates", "cpuprofile",
	"memprofile"}

// incidental are the other flags that do not decide an answer.
var incidental = []string{"journal", "shard", "workers", "threads", "quiet", "help", "help-all"}

// isRecorded reports whether a flag decides an answer, which a journal records.
func isRecorded(name string) bool {
	return !slices.Contains(outputFlags, name) && !slices.Contains(incidental, name)
}

// keyOf is a name for everything that a task depends on.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16])
}

// require notes a task that is missing and not this process's.
func (s *tasks) require(number int, name, key string) {
	if s.Journal != nil && !s.owns(number) && !s.Has(key) {
		s.missing = append(s.missing, missingTask{number, name, key})
	}
}

// do fills the result of a task, a pointer to a zero value, from the journal or by
// computing it. It is not filled where the task is another process's.
func (s *tasks) do(number int, key string, result any, compute func() error) (filled bool, err error) {
	if (s.merging || s.owns(number)) && s.Lookup(key, result) {
		return true, nil
	}
	if !s.owns(number) {
		return false, nil
	}
	if err := compute(); err != nil {
		return false, err
	}
	s.Append(key, result)
	return true, nil
}

// elsewhere ends a command whose answer is not this process's to give: with what it has done, or because
// tasks are missing.
func (a *app) elsewhere() error {
	s := &a.tasks
	switch {
	case s.merging:
		return fmt.Errorf("%s: %s", s.named(), s.cure())
	case s.Lost() > 0:
		return fmt.Errorf("%d tasks could not be kept in %s: make room and run shard %d of %d again", s.Lost(),
			s.folder, s.part.of, s.part.count)
	}
	return a.print(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "shard %d of %d has done its tasks; bootbench merge %s prints the answer of all\n",
			s.part.of, s.part.count, shellWords(s.folder))
		return err
	})
}

// named names the tasks that are missing.
func (s *tasks) named() string {
	const shown = 5
	var names []string
	for _, m := range s.missing[:min(shown, len(s.missing))] {
		names = append(names, m.name)
	}
	if more := len(s.missing) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d tasks are missing: %s", len(s.missing), strings.Join(names, "; "))
}

// cure says how the missing tasks are done.
func (s *tasks) cure() string {
	if s.Head.Shards <= 1 {
		return "run the command line of the journal again"
	}
	var numbers []int
	for _, m := range s.missing {
		numbers = append(numbers, m.number%s.Head.Shards)
	}
	slices.Sort(numbers)
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(numbers)), " ", ", "), "[]")
	return fmt.Sprintf("run again: shards %s of %d", list, s.Head.Shards)
}

// place is where a file is that the journal that is merged has named.
func (a *app) place(path string) string {
	if a.tasks.merging && !filepath.IsAbs(path) && !slices.Contains(dataset.Names(), path) {
		there := filepath.Join(a.tasks.Head.Folder, path)
		if names, err := dataset.Files(there); err == nil {
			if _, err := os.Stat(names[0]); err == nil {
				return there
			}
		}
	}
	return path
}

// readData reads a data set, and notes its digest for a journal. merge finds files where
// they were found before, or where they are called the same from here.
func (a *app) readData(path string, options dataset.Options) (*dataset.Set, error) {
	s := &a.tasks
	if path == "-" && (a.options.journal != "" || s.merging) {
		return nil, usage.Errorf("standard input cannot be read again, which --journal needs: save it as a file")
	}
	place := a.place(path)
	set, err := dataset.Load(place, options)
	if err != nil {
		return nil, err
	}
	if place != path {
		set.Name = path
	}
	if a.options.journal != "" || s.merging {
		s.digests = append(s.digests, set.Digest())
	}
	return set, nil
}
