package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bootbench/report"
)

// study is a long computation that is split into tasks, whose results lie in a
// folder: one process does all of them, or several do a share each and merge
// reads them back. Its zero value keeps nothing and does everything.
type study struct {
	wanted  string // --shard
	shards  int    // --shards
	store   *blockStore
	index   int // this process does the tasks whose number is index modulo count
	count   int
	merging bool     // read only
	done    int      // tasks that this process did, or found done
	missing []string // tasks that merge did not find
}

// register adds the flags that split a command.
func (st *study) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&st.wanted, "shard", "", "do only part `I/N` of the work, I from 0 to N-1, and keep it in --out, for bootbench merge; auto: as SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (with --shards) or OMPI_COMM_WORLD_RANK say; default: all of the work")
	f.IntVar(&st.shards, "shards", 0, "number `N` of parts for --shard auto; default: as the environment says")
}

// split reads --shard, opens the folder and notes there the command line that
// merge runs again.
func (s *session) split() error {
	st := &s.study
	if st.wanted == "" && !st.merging {
		if st.shards != 0 {
			return usagef("--shards is for --shard auto")
		}
		return nil
	}
	if s.out == "" {
		return usagef("--shard needs --out, the folder that all parts share")
	}
	store, err := newBlockStore(s.out)
	if err != nil {
		return err
	}
	st.store = &store
	if st.merging {
		return nil
	}
	if st.index, st.count, err = shardOf(st.wanted, st.shards, os.LookupEnv); err != nil {
		return err
	}
	return writeStudy(s.out, s.args)
}

// shardOf reads "I/N", or what the scheduler says.
func shardOf(text string, shards int, environment func(string) (string, bool)) (index, count int, err error) {
	if text == "auto" {
		return scheduled(shards, environment)
	}
	first, second, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	count, err2 := strconv.Atoi(second)
	if !ok || err1 != nil || err2 != nil || count < 1 || index < 0 || index >= count || shards != 0 {
		return 0, 0, usagef("--shard %q is not I/N with I from 0 to N-1, and not auto", text)
	}
	return index, count, nil
}

// scheduler is a batch system that numbers its processes in the environment.
type scheduler struct{ index, first, count string }

// schedulers are Slurm's array jobs, Kubernetes' indexed Jobs (which do not tell
// their number) and Open MPI's ranks.
var schedulers = []scheduler{
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"},
	{"JOB_COMPLETION_INDEX", "", ""},
	{"OMPI_COMM_WORLD_RANK", "", "OMPI_COMM_WORLD_SIZE"},
}

// scheduled is the part that the first scheduler in the environment names.
func scheduled(shards int, environment func(string) (string, bool)) (index, count int, err error) {
	number := func(name string, otherwise int) int {
		text, _ := environment(name)
		v, wrong := strconv.Atoi(text)
		if wrong != nil {
			return otherwise
		}
		return v
	}
	for _, sc := range schedulers {
		if _, ok := environment(sc.index); !ok {
			continue
		}
		index := number(sc.index, -1) - number(sc.first, 0)
		count := number(sc.count, 0)
		if shards != 0 {
			count = shards
		}
		if count < 1 || index < 0 || index >= count {
			return 0, 0, usagef("--shard auto: %s makes this part %d of %d; --shards gives their number", sc.index, index, count)
		}
		return index, count, nil
	}
	return 0, 0, usagef("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX nor OMPI_COMM_WORLD_RANK is set")
}

// Do gives a task to this process, if it is its part: it fills result, a
// pointer, from the folder or by compute, and says whether it is filled.
func (st *study) Do(number int, key string, result any, compute func() error) (bool, error) {
	if st.store == nil {
		return true, compute()
	}
	found, err := st.store.Load(key, result)
	switch {
	case err != nil:
		return false, err
	case found:
		st.done++
		return true, nil
	case st.merging:
		st.missing = append(st.missing, key)
		return false, nil
	case number%st.count != st.index:
		return false, nil
	}
	if err := compute(); err != nil {
		return false, err
	}
	st.done++
	return true, st.store.Save(key, result)
}

// partial reports whether the answer lacks tasks of other processes.
func (st *study) partial() bool { return st.store != nil && !st.merging && st.count > 1 }

// told ends a part of a study: the answer is for merge to print.
func (s *session) told() error {
	return s.text(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "part %d of %d: %d tasks are done and kept in %s; bootbench merge %s puts all parts together\n",
			s.study.index, s.study.count, s.study.done, s.out, shellWord(s.out))
		return err
	})
}

// detail parts what a reader wants to know of a task's key from the rest.
const detail = " set="

// complete refuses to merge a study with tasks missing.
func (st *study) complete() error {
	if len(st.missing) == 0 {
		return nil
	}
	const shown = 5
	var names []string
	for _, key := range st.missing[:min(shown, len(st.missing))] {
		name, _, _ := strings.Cut(key, detail)
		names = append(names, name)
	}
	if more := len(st.missing) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%d tasks are missing: %s; run their parts again", len(st.missing), strings.Join(names, "; "))
}

// studyFile says in a folder which command its tasks belong to.
type studyFile struct {
	Args []string `json:"args"`
}

// writeStudy notes the command, and refuses a folder that belongs to another.
func writeStudy(dir string, args []string) error {
	own := withoutFlags(args, "shard", "shards", "out", "json", "quiet", "workers", "threads", "cpuprofile", "memprofile", "trace")
	known, err := readStudy(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return report.WriteFile(filepath.Join(dir, "study.json"), func(w io.Writer) error { return report.WriteJSON(w, studyFile{own}) })
	case err != nil:
		return err
	case !slices.Equal(known.Args, own):
		return usagef("--out: %s belongs to another study: bootbench %s", dir, strings.Join(known.Args, " "))
	}
	return nil
}

func readStudy(dir string) (studyFile, error) {
	var f studyFile
	text, err := os.ReadFile(filepath.Join(dir, "study.json"))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil || len(f.Args) == 0 {
		return f, usagef("%s holds no study: study.json is damaged", dir)
	}
	return f, nil
}

// withoutFlags drops flags that do not change the answer.
func withoutFlags(args []string, names ...string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !strings.HasPrefix(args[i], "--") || !slices.Contains(names, name) {
			kept = append(kept, args[i])
			continue
		}
		if !joined && name != "quiet" {
			i++ // its value
		}
	}
	return kept
}

func mergeCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge DIR",
		Short: "Put the parts of a sharded command together",
		Long: `merge reads what the parts of a command (--shard I/N --out DIR) left in DIR and
prints the answer that one process would have given. Tasks that are missing are
named, and those that were done twice count once.`,
		Example: `  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 0/2 --out parts
  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 1/2 --out parts
  bootbench merge parts`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("merge takes one folder, not %d", len(args))
			}
			return nil
		},
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		f, err := readStudy(args[0])
		if errors.Is(err, fs.ErrNotExist) {
			return usagef("%s holds no study: there is no study.json", args[0])
		}
		if err != nil {
			return asUsage(err)
		}
		again := append(slices.Clone(f.Args), "--out", args[0])
		if s.json != "" {
			again = append(again, "--json", s.json)
		}
		if s.quiet {
			again = append(again, "--quiet")
		}
		inner := newSession(s.ctx, again, s.stdin, s.stdout, s.stderr)
		inner.study.merging = true
		s.status = inner.run()
		return nil
	}
	return cmd
}
