package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/study"
)

// shardFlags split a command into parts.
type shardFlags struct {
	wanted  string       // --shard
	count   int          // --shards
	study   *study.Study // nil: one process, which keeps nothing
	digests []string     // of the data sets that were read so far
}

func (s *shardFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.wanted, "shard", "",
		"do only part `I/N` of the work, I from 0 to N-1, and keep it in --out, for bootbench merge; auto: as SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (with --shards) or OMPI_COMM_WORLD_RANK say; default: all of the work")
	f.IntVar(&s.count, "shards", 0, "number `N` of parts for --shard auto; default: as the environment says")
}

// shards reports whether a command can be split.
func shards(cmd *cobra.Command) bool { return cmd.Flags().Lookup("shard") != nil }

// studySettings are the flags that decide an answer. A study records those of them
// that were given, and merge takes no others: no flag that names a file to write is
// among them.
var studySettings = slices.Concat(dataFlagNames, modelFlagNames, schemeFlagNames, solverFlagNames,
	testFlagNames, refineFlagNames, engineFlagNames, []string{
		"backend", "max-memory", "resamples", "seed", "max-skipped", "fit-tol", // how it is computed
		// and of what
		"quantiles", "law", "metrics", "by", "over", "sizes", "data", "figure", "pumadyn", "test", "interval",
		"residuals",
	})

// recordSettings are the settings that were given to a command.
func recordSettings(cmd *cobra.Command) []study.Setting {
	var given []study.Setting
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || !slices.Contains(studySettings, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		given = append(given, study.Setting{Name: f.Name, Values: values})
	})
	slices.SortFunc(given, func(a, b study.Setting) int { return strings.Compare(a.Name, b.Name) })
	return given
}
