package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/study"
	"bootbench/cmd/bootbench/internal/usage"
)

// mergeCommand runs again one of all the commands.
func mergeCommand(a *app, all func(*app) *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "merge DIR",
		Short: "Put the parts of a sharded command together",
		Long: `merge reads what the parts of a command (--shard I/N --out DIR) left in DIR and
prints the answer that one process would have given. Tasks that are missing are
named, with the reason where what is there is refused, and those that were done
twice count once. It writes into DIR, and to --json, and nowhere else.`,
		Example: `  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 0/2 --out parts
  bootbench compare sonar --ratio 0.5,1 --sizes 100 --resamples 20 --shard 1/2 --out parts
  bootbench merge parts`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Errorf("merge takes one folder, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			record, err := study.ReadRecord(files.ReadFolder(args[0]))
			if err != nil {
				return err
			}
			inner := newApp(a.ctx, nil, nil, nil, nil)
			inner.args, inner.began, inner.console, inner.merged = a.args, a.began, a.console, &record
			defer inner.close()
			quiet := a.console.Quiet // which the inner command's own --quiet sets back
			root := all(inner)
			a.console.Quiet = quiet
			err = inner.merge(root, args[0], a.outputs.json)
			a.status = inner.status
			return err
		},
	}
}

// merge runs the command of a study on its settings. There is no command line: the
// record names the command and settings, and the files to write are merge's own.
func (a *app) merge(root *cobra.Command, folder, json string) error {
	cmd, err := a.recordedCommand(root)
	if err != nil {
		return err
	}
	for _, s := range a.merged.Settings {
		if err := setRecorded(cmd.Flags(), s); err != nil {
			return err
		}
	}
	if err := cmd.ValidateArgs(a.merged.Data); err != nil {
		return usage.Errorf("%s holds no study: %w", folder, err)
	}
	if err := cmd.Flags().Set("out", folder); err != nil {
		return err
	}
	a.outputs.json = json
	if err := a.start(cmd); err != nil {
		return err
	}
	return cmd.RunE(cmd, a.merged.Data)
}

// recordedCommand is the command of the study, if it is one that can be split.
func (a *app) recordedCommand(root *cobra.Command) (*cobra.Command, error) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == a.merged.Command && shards(cmd) {
			return cmd, cmd.ParseFlags(nil) // with those that all commands have
		}
	}
	return nil, usage.Errorf("the study is of %q, which is no command that can be split", a.merged.Command)
}

// setRecorded sets a flag as a record has it, if it is one that records hold.
func setRecorded(f *pflag.FlagSet, s study.Setting) error {
	flag := f.Lookup(s.Name)
	if flag == nil || !slices.Contains(studySettings, s.Name) {
		return usage.Errorf("the study has a setting %q, which no study can have", s.Name)
	}
	list, several := flag.Value.(pflag.SliceValue)
	if !several && len(s.Values) != 1 {
		return usage.Errorf("the study has %d values of --%s", len(s.Values), s.Name)
	}
	if !several {
		return usage.Wrap(f.Set(s.Name, s.Values[0]))
	}
	flag.Changed = true
	return usage.Wrap(list.Replace(s.Values))
}
