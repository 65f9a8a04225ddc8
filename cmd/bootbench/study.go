package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
	merging bool       // read only
	known   *studyFile // what merge found
	data    []dataFile // what was read so far
	done    int        // tasks that this process did, or found done
	missing []task     // that merge did not find
}

// task is one of a study, by its place in the order of all and by its key.
type task struct {
	number int
	key    string
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
	if !st.merging {
		var err error
		if st.index, st.count, err = shardOf(st.wanted, st.shards, os.LookupEnv); err != nil {
			return err
		}
	}
	store, err := newBlockStore(s.out)
	if err != nil {
		return err
	}
	st.store = &store
	if st.merging {
		return st.known.sameData(st.data)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return writeStudy(s.out, studyFile{Args: studyArgs(s.args), Dir: dir, Parts: st.count, Data: st.data})
}

// Do gives a task to this process, if it is its part: it fills result, a
// pointer, from the folder or by compute, and says whether it is filled.
func (st *study) Do(number int, key string, result any, compute func() error) (bool, error) {
	if st.store == nil {
		return true, compute()
	}
	if !st.merging && number%st.count != st.index {
		return false, nil
	}
	found, err := st.store.Load(key, result)
	switch {
	case err != nil:
		return false, err
	case found:
		st.done++
		return true, nil
	case st.merging:
		st.missing = append(st.missing, task{number, key})
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
	for _, m := range st.missing[:min(shown, len(st.missing))] {
		name, _, _ := strings.Cut(m.key, detail)
		names = append(names, name)
	}
	if more := len(st.missing) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%d tasks are missing: %s; run again: parts %s of %d", len(st.missing), strings.Join(names, "; "), st.missingParts(), st.known.Parts)
}

// missingParts lists the parts that the missing tasks belong to.
func (st *study) missingParts() string {
	var parts []int
	for _, m := range st.missing {
		parts = append(parts, m.number%st.known.Parts)
	}
	slices.Sort(parts)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(parts)), " ", ", "), "[]")
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
			return err
		}
		flags := []string{"--out=" + args[0]}
		if s.json != "" {
			flags = append(flags, "--json="+s.json)
		}
		if s.quiet {
			flags = append(flags, "--quiet")
		}
		end := slices.Index(f.Args, "--") // from where on there are no flags
		if end < 0 {
			end = len(f.Args)
		}
		again := slices.Insert(slices.Clone(f.Args), end, flags...)
		inner := newSession(s.ctx, again, s.stdin, s.stdout, s.stderr)
		inner.study.merging, inner.study.known = true, &f
		s.status = inner.run()
		return nil
	}
	return cmd
}
