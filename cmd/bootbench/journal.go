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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
)

// tasks are what a command keeps of its work, and what it does of it.
type tasks struct {
	*journal.Journal // nil: nothing is kept
	folder           string
	wanted           string   // --shard
	count            int      // --shards
	shard, shards    int      // this process does the tasks whose number is shard modulo shards
	merging          bool     // none is done, all are looked up
	digests          []string // of the data that were read so far
	missing          []missingTask
}

// missingTask is one that is not finished.
type missingTask struct {
	number    int
	name, key string
}

func (s *tasks) register(f *pflag.FlagSet) {
	f.StringVar(&s.folder, "journal", "",
		"keep every task that is finished in the folder `DIR`, and take up those of the same command line that "+
			"are there; default: none")
}

func (s *tasks) registerShard(f *pflag.FlagSet) {
	s.register(f)
	f.StringVar(&s.wanted, "shard", "",
		"do only part `I/N` of the tasks, I from 0 to N-1, into --journal, for bootbench merge; auto: as "+
			"SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX (with --shards) say; default: all")
	f.IntVar(&s.count, "shards", 0, "number `N` of parts for --shard auto; default: as the environment says")
}

// sharded reports whether other processes have tasks, too.
func (s *tasks) sharded() bool { return s.shards > 1 }

// owns reports whether a task is this process's.
func (s *tasks) owns(number int) bool { return !s.merging && number%max(1, s.shards) == s.shard }

// openJournal takes up and begins the journal that a command asks for, once it has read its data; chosen is
// what a search has chosen for it.
func (a *app) openJournal(cmd *cobra.Command, data []string, chosen choice) (err error) {
	s := &a.tasks
	switch {
	case s.merging:
		return s.Head.CheckData(s.digests)
	case s.wanted == "" && s.count != 0:
		return usage.Errorf("--shards is for --shard auto")
	case s.wanted != "" && s.folder == "":
		return usage.Errorf("--shard needs --journal, the folder where finished tasks are kept")
	case s.folder == "":
		return nil
	}
	s.shards = 1
	if s.wanted != "" {
		if s.shard, s.shards, err = journal.ParseShard(s.wanted, s.count, os.LookupEnv); err != nil {
			return err
		}
	}
	head := journal.Head{Version: version(), Command: cmd.Name(), Data: data,
		Settings: recordSettings(cmd, chosen.flags), Chosen: chosen.by, Digests: s.digests, Shards: s.shards}
	if head.Folder, err = os.Getwd(); err != nil {
		return err
	}
	s.Journal, err = journal.Open(s.folder, head, s.shard, func(text string) { a.console.Warn(text) })
	if err == nil && s.Count() > 0 {
		a.console.Note("%s has %d finished tasks", s.folder, s.Count())
	}
	return err
}

// outputFlags name files that a command writes.
var outputFlags = []string{"model", "json", "out", "csv", "covariance", "replicates", "cpuprofile",
	"memprofile"}

// incidental are the other flags that do not decide an answer.
var incidental = []string{"journal", "shard", "shards", "workers", "threads", "quiet", "help", "help-all"}

// isRecorded reports whether a flag decides an answer, which a journal records.
func isRecorded(name string) bool {
	return !slices.Contains(outputFlags, name) && !slices.Contains(incidental, name)
}

// recordSettings are the settings that were given to a command and decide its answer, and what was chosen for
// it, sorted.
func recordSettings(cmd *cobra.Command, chosen []string) (settings []string) {
	for flag := range slices.Chunk(chosen, 2) {
		settings = append(settings, strings.TrimPrefix(flag[0], "--")+"="+flag[1])
	}
	for _, setting := range givenSettings(cmd.Flags()) {
		if name, _, _ := strings.Cut(setting, "="); isRecorded(name) {
			settings = append(settings, setting)
		}
	}
	slices.Sort(settings)
	return settings
}

// givenSettings are the flags that were given, as NAME=VALUE; a list has one for each of its elements.
func givenSettings(f *pflag.FlagSet) (given []string) {
	f.VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if f.Value.Type() == "stringSlice" && strings.ContainsAny(v, ",\"") { // which takes lists of CSV
				v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
			}
			if f.Changed {
				given = append(given, f.Name+"="+v)
			}
		}
	})
	return given
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

// ended ends the answer to one question where err, or a journal that others have a part in,
// does: with what this process has done, or because tasks are missing.
func (a *app) ended(err error) (done bool, _ error) {
	switch s := &a.tasks; {
	case err != nil:
		return true, err
	case s.sharded():
		return true, a.shardDone()
	case s.merging && len(s.missing) > 0:
		return true, fmt.Errorf("%s: %s", s.named(s.missing), s.cure())
	}
	return false, nil
}

// shardDone says what a shard has done, and what is missing from the others.
func (a *app) shardDone() error {
	s := &a.tasks
	if s.Lost() > 0 {
		return fmt.Errorf("%d tasks could not be kept in %s: make room and run shard %d of %d again", s.Lost(),
			s.folder, s.shard, s.shards)
	}
	text := fmt.Sprintf("shard %d of %d has done its tasks", s.shard, s.shards)
	now, err := journal.Read([]string{s.folder}, func(string) {})
	if err != nil {
		return err
	}
	defer now.Close()
	s.missing = slices.DeleteFunc(s.missing, func(m missingTask) bool { return now.Has(m.key) })
	if len(s.missing) > 0 {
		text += "; " + s.named(s.missing)
	}
	return a.text(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s; bootbench merge %s prints the answer of all\n", text, shellWord(s.folder))
		return err
	})
}

// named names tasks that are missing.
func (s *tasks) named(missing []missingTask) string {
	const shown = 5
	var names []string
	for _, m := range missing[:min(shown, len(missing))] {
		names = append(names, m.name)
	}
	if more := len(missing) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d tasks are missing: %s", len(missing), strings.Join(names, "; "))
}

// cure says how the missing tasks are done.
func (s *tasks) cure() string {
	shards := max(1, s.Head.Shards)
	if shards == 1 {
		return "run the command line of the journal again"
	}
	var numbers []int
	for _, m := range s.missing {
		numbers = append(numbers, m.number%shards)
	}
	slices.Sort(numbers)
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(numbers)), " ", ", "), "[]")
	return fmt.Sprintf("run again: shards %s of %d", list, shards)
}

// place is where a file is found that the journal that is merged has named.
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
	if path == "-" && (s.folder != "" || s.merging) {
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
	if s.folder != "" || s.merging {
		s.digests = append(s.digests, set.Digest())
	}
	return set, nil
}
