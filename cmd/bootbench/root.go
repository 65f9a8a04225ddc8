package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/help"
	"bootbench/cmd/bootbench/internal/usage"
)

// newRoot is the command line of a session.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "bootbench",
		Short: "Bootstrap averages of kernel machines without retraining",
		Long: `bootbench computes what bootstrap resampling of a kernel machine gives on
average - left-out error, .632 and .632+, mean and variance of predictions -
without retraining it, by adaptive TAP (Malzahn and Opper 2003), and compares
that with retraining.

DATA is a table (.csv, .tsv, .txt, .data; separator, header and compression are
detected; the target is the last column), LIBSVM's sparse lines (.svm, .libsvm,
.dat), .npy (the target last), .npz (X, y) or .parquet; several tables, files of sparse lines or .npy of the
same columns, by a pattern in quotes ('rows-*.csv'); - for a table on standard input; the
name of an embedded set ("bootbench datasets" lists them), or
synthetic:NAME,n=2000,seed=1. Two values of the target are classes, numbers a
regression; without --loss a model is chosen.

Exit status: 0 done; 1 failed while running; 2 bad usage or bad input, nothing
computed; 3 not converged, the answer is printed with its residual; 130
interrupted, what was finished is kept.`,
		Example: `  bootbench estimate boston
  bootbench estimate houses.csv --target price
  bootbench datasets
  bootbench compare`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	all := false
	root.PersistentFlags().BoolFunc("help-all", "help with all flags; default: those needed first",
		func(string) error { all = true; return pflag.ErrHelp })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { help.Describe(c, all) })
	root.SetUsageFunc(func(c *cobra.Command) error { return help.Usage(c, all) })
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID("files")
	root.SetCompletionCommandGroupID("files")
	registerShared(a, root)
	for _, g := range commandGroups(a) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	for _, c := range append(root.Commands(), root) {
		c.Flags().SortFlags = false
	}
	return root
}

// commandGroup is a part of the list of commands in the help.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// commandGroups are all commands: those that answer questions about DATA, and those
// around them.
func commandGroups(a *app) []commandGroup {
	return []commandGroup{
		{"main", "Commands:", []*cobra.Command{compareCommand(a), estimateCommand(a), curveCommand(a),
			predictCommand(a),
			retrainCommand(a), looCommand(a), gridCommand(a), tuneCommand(a), trainCommand(a)}},
		{"files", "Data, parts and the machine:", []*cobra.Command{datasetsCommand(a), mergeCommand(a),
			infoCommand(a), lossesTopic()}},
	}
}

// registerShared adds the flags that every command has.
func registerShared(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	a.outputs.register(f)
	a.process.register(f)
	f.BoolVar(&a.console.Quiet, "quiet", false,
		"no progress bars and no warnings on standard error; default: bars on a terminal only")
	a.process.registerProfiles(f)
}

// helpCommand prints the help of a command, and refuses one that is not there.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about a command",
		Example: "  bootbench help estimate",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage.Wrap(err)
			}
			if len(rest) > 0 {
				return usage.Errorf("no help on %q", rest[0])
			}
			return target.Help()
		},
	}
}
