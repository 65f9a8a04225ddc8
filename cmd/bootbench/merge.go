package main

import (
	"slices"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/cmd/bootbench/internal/usage"
)

func mergeCommand() *command {
	return &command{
		use:   "merge DIR...",
		short: "The answer of a command whose tasks lie in journals",
		long: `merge unites the journals of a command (--journal DIR, with --shard or without) and
prints the answer that one process would have given. Tasks that are missing are
named, and the shards that are to do them. What a command writes elsewhere (--csv,
--replicates) is written by the command itself with --journal DIR once all tasks
are there.`,
		example: `  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 0/2 --journal parts
  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 1/2 --journal parts
  bootbench merge parts`,
		out: ", what the command writes there",
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
	if err == nil && c.args != nil {
		err = c.args(o, head.Data)
	} else if err == nil {
		err = oneData(c.name(), head.Data)
	}
	if err != nil {
		return err
	}
	a.command, a.options, a.data = c, o, head.Data
	if err := a.process.bind(); err != nil {
		return err
	}
	return c.run(a, o, head.Data)
}

// recorded is the command of a journal, if it is one that can be split, with its settings, if they are such
// that decide an answer.
func (a *app) recorded(head *journal.Head) (*command, *options, error) {
	main, _ := allCommands()
	at := slices.IndexFunc(main, func(c *command) bool { return c.name() == head.Command })
	if at >= 0 {
		o, err := with(nil, main[at].flags)
		o.Text(&a.process.backend, "backend", "")
		if err == nil && o.Lookup("shard") != nil {
			return main[at], o, o.take(head.Settings)
		}
	}
	return nil, nil, usage.Errorf(
		"the journal is of %q, which is no command that can be split: run its command "+
			"line again with --journal", head.Command)
}
