package main

import (
	"slices"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/bootbench/internal/usage"
)

func mergeCommand() *command {
	return &command{
		name:  "merge",
		takes: []string{},
		out:   ", what the command writes there",
		args: func(_ *options, args []string) error {
			if len(args) == 0 {
				return usage.Errorf("merge takes the folders of journals, and here is none")
			}
			return nil
		},
		run: func(a *app, _ *options, folders []string) error { return runMerge(a, folders) },
	}
}

// runMerge runs the command of journals with all its tasks looked up. What it writes is for
// merge's own flags to say.
func runMerge(a *app, folders []string) (err error) {
	if a.tasks.Journal, err = journal.Read(folders, func(text string) { a.console.Warn(text) }); err != nil {
		return err
	}
	a.tasks.merging = true
	head := &a.tasks.Head
	if head.Version != version() {
		return usage.Errorf("%s is of version %s of the program, this is %s: run its command line again, with "+
			"another folder", folders[0], head.Version, version())
	}
	c, o, err := a.recorded(head)
	if err == nil {
		err = c.check(o, head.Data)
	}
	if err != nil {
		return err
	}
	a.command, a.options, a.data = c, o, head.Data
	if err := a.process.begin(); err != nil {
		return err
	}
	return c.run(a, o, head.Data)
}

// recorded is the command of a journal, if it is one that can be split, with its settings, if they are such
// that decide an answer.
func (a *app) recorded(head *journal.Head) (*command, *options, error) {
	main, _ := allCommands()
	for _, c := range main {
		if c.name == head.Command && slices.Contains(c.takes, "shard") {
			o := optionsOf(c, pflag.NewFlagSet("", pflag.ContinueOnError))
			o.StringVar(&a.process.backend, "backend", "", "")
			return c, o, o.take(head.Settings)
		}
	}
	return nil, nil, usage.Errorf(
		"the journal is of %q, which is no command that can be split: run its command "+
			"line again with --journal", head.Command)
}
