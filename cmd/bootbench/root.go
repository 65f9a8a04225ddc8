package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bootbench/report"
)

// newRoot is the command line of a session.
func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:   "bootbench",
		Short: "Bootstrap averages of kernel machines without retraining",
		Long: `bootbench computes what bootstrap resampling of a kernel machine gives on
average - left-out error, .632 and .632+, mean and variance of predictions -
without retraining it, by adaptive TAP (Malzahn and Opper 2003), and compares
that with retraining.

DATA is a file: .csv (a header, features, the target last), .svm, .libsvm or
.dat (LIBSVM sparse lines), .npy (the target last), - for CSV on standard input;
or the name of an embedded set ("bootbench datasets" lists them), or
synthetic:NAME,n=2000,seed=1.

Exit status: 0 done; 1 failed while running; 2 bad usage or bad input, nothing
computed; 3 not converged, the answer is printed with its residual; 130
interrupted, what was finished is kept.`,
		Example: `  bootbench estimate boston
  bootbench datasets
  bootbench compare`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return s.start(cmd) },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand(s))
	s.register(root)
	root.AddCommand(compareCommand(s), estimateCommand(s), curveCommand(s), gridCommand(s), predictCommand(s),
		retrainCommand(s), looCommand(s), trainCommand(s), paperCommand(s), accuracyCommand(s), mergeCommand(s), scaleCommand(s), datasetsCommand(s), infoCommand(s))
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
	}
	return root
}

// helpCommand prints the help of a command, and refuses one that is not there.
func helpCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about a command",
		Example: "  bootbench help estimate",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil {
				return asUsage(err)
			}
			if len(rest) > 0 {
				return usagef("no help on %q", rest[0])
			}
			return target.Help()
		},
	}
}

// oneData refuses anything but one DATA.
func oneData(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one DATA, a file or a set (bootbench datasets lists them), not %d", cmd.Name(), len(args))
	}
	return nil
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, not %q", cmd.Name(), args[0])
	}
	return nil
}

// version is the module's version and, for a build from a repository, its
// revision.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	text, revision, changed := info.Main.Version, "", ""
	if text == "" {
		text = "(devel)"
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ", changed since"
		}
	}
	if revision == "" {
		return text
	}
	return fmt.Sprintf("%s (%s%s)", text, revision, changed)
}

// print writes an answer that has a text and a document.
func (s *session) print(doc report.Document) error {
	if err := s.text(func(w io.Writer) error { return report.WriteText(w, doc) }); err != nil {
		return err
	}
	return s.document(doc)
}
