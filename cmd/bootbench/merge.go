package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/bootbench/internal/usage"
)

func mergeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "The answer of a command whose tasks lie in journals",
		Long: `merge unites the journals of a command (--journal DIR, with --shard or without) and
prints the answer that one process would have given. Tasks that are missing are
named, and the shards that are to do them. What a command writes elsewhere (--csv,
--replicates) is written by the command itself with --journal DIR once all tasks
are there.`,
		Example: `  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 0/2 --journal parts
  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 1/2 --journal parts
  bootbench merge parts`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Errorf("merge takes the folders of journals, and here is none")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, folders []string) error { return runMerge(a, cmd.Root(), folders) },
	}
	registerOut(cmd, "what the command writes there")
	return cmd
}

// runMerge runs the command of journals with all its tasks looked up. What it writes is for
// merge's own flags to say.
func runMerge(a *app, root *cobra.Command, folders []string) (err error) {
	if a.tasks.Journal, err = journal.Read(folders, func(text string) { a.console.Warn(text) }); err != nil {
		return err
	}
	a.tasks.merging = true
	head := &a.tasks.Head
	if head.Version != version() {
		return usage.Errorf("%s is of version %s of the program, this is %s: run its command line again, with "+
			"another folder",
			folders[0], head.Version, version())
	}
	cmd, err := mergeable(root, head.Command)
	if err != nil {
		return err
	}
	for _, s := range head.Settings {
		if err := setRecorded(cmd.Flags(), s); err != nil {
			return err
		}
	}
	if err := cmd.ValidateArgs(head.Data); err != nil {
		return usage.Errorf("%s holds no journal: %w", folders[0], err)
	}
	if err := a.process.bind(cmd); err != nil {
		return err
	}
	return cmd.RunE(cmd, head.Data)
}

// mergeable is the command of a journal, if it is one that can be split.
func mergeable(root *cobra.Command, name string) (*cobra.Command, error) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == name && cmd.Flags().Lookup("shard") != nil {
			return cmd, cmd.ParseFlags(nil) // with those that all commands have
		}
	}
	return nil, usage.Errorf(
		"the journal is of %q, which is no command that can be split: run its command line again with --journal",
		name)
}

// setRecorded sets a flag as a journal has it, NAME=VALUE, if it is one that decides an answer.
func setRecorded(f *pflag.FlagSet, setting string) error {
	name, value, _ := strings.Cut(setting, "=")
	if f.Lookup(name) == nil || !isRecorded(name) {
		return usage.Errorf("the journal has a setting %q, which no journal can have", name)
	}
	return usage.Wrap(f.Set(name, value))
}
