package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/loss"
)

// command is one that users can ask for. Its page of help is help/NAME.txt.
type command struct {
	name     string
	takes    []string                              // flags of options.declare, beside those of all commands
	defaults map[string]string                     // of them, that are others than most commands'
	losses   []string                              // that it can train; nil: all
	args     func(o *options, args []string) error // nil: one DATA
	classes  bool                                  // it takes several classes
	out      string                                // what it writes into --out; "-": it has no --out
	run      func(a *app, o *options, args []string) error
}

//go:embed help
var help embed.FS

//go:embed help/flags.txt
var flagPage string

// flagHelp is what help says of the flags. Of a name with a part after "/" there are several.
var flagHelp = flags.ReadHelp(flagPage)

// describe fills in a command's page of help: how it is used and what it does, in a line each, paragraphs,
// and examples.
func describe(cmd *cobra.Command, name string) *cobra.Command {
	page, err := help.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	use, rest, _ := strings.Cut(string(page), "\n")
	if cmd.Use = strings.TrimPrefix(use, "bootbench "); name == "bootbench" {
		cmd.Use = name
	}
	cmd.Short, rest, _ = strings.Cut(rest, "\n")
	cmd.Long, cmd.Example, _ = strings.Cut(strings.Trim(rest, "\n"), "\n\nExamples:\n")
	return cmd
}

// allCommands are those that answer questions about DATA, and those around them.
func allCommands() (main, others []*command) {
	return []*command{compareCommand(), estimateCommand(), curveCommand(), predictCommand(), retrainCommand(),
			cvCommand(), rowsCommand(), looCommand(), gridCommand(), tuneCommand(), trainCommand()},
		[]*command{datasetsCommand(), mergeCommand(), infoCommand()}
}

// cobra is the command with its flags.
func (a *app) cobra(c *command, group string) *cobra.Command {
	cmd := describe(&cobra.Command{GroupID: group}, c.name)
	o := optionsOf(c, cmd.Flags())
	if c.out != "-" {
		o.Group("Output")
		o.Text(&a.outputs.out, "out")
		flag := o.Lookup("out")
		flag.Usage = fmt.Sprintf(flag.Usage, c.out)
	}
	cmd.Args = func(_ *cobra.Command, args []string) error { return c.check(o, args) }
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		a.command, a.options, a.data = c, o, args
		return c.run(a, o, args)
	}
	return cmd
}

// check refuses arguments that the command does not take.
func (c *command) check(o *options, args []string) error {
	if c.args != nil {
		return c.args(o, args)
	}
	return oneData(c.name, args)
}

// oneData refuses anything but one DATA.
func oneData(name string, args []string) error {
	if len(args) != 1 {
		return usage.Errorf("%s takes one DATA, a file or a set (bootbench datasets lists them), not %d", name,
			len(args))
	}
	return nil
}

// newRoot is the command line of a session.
func newRoot(a *app) *cobra.Command {
	root := describe(&cobra.Command{
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.start(cmd) },
	}, "bootbench")
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	all := false
	a.shared = flags.New(root.PersistentFlags(), flagHelp, nil)
	a.sharedFlags()
	a.shared.BoolFunc("help-all", "help with all flags; default: those needed first",
		func(string) error { all = true; return pflag.ErrHelp })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { flags.Describe(c, all) })
	root.SetUsageFunc(func(c *cobra.Command) error { return flags.Usage(c, all) })
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID("files")
	root.SetCompletionCommandGroupID("files")
	root.AddGroup(&cobra.Group{ID: "main", Title: "Commands:"},
		&cobra.Group{ID: "files", Title: "Data, parts and the machine:"})
	main, others := allCommands()
	for _, c := range main {
		root.AddCommand(a.cobra(c, "main"))
	}
	for _, c := range others {
		root.AddCommand(a.cobra(c, "files"))
	}
	root.AddCommand(lossesTopic())
	return root
}

// sharedFlags are those that every command has.
func (a *app) sharedFlags() {
	s, p := a.shared, &a.process
	s.Group("Output")
	s.Text(&a.outputs.json, "json")
	s.Switch(&a.console.Quiet, "quiet")
	s.Group("Solving")
	s.Text(&p.backend, "backend")
	s.Whole(&p.threads, "threads", 0, flags.Range{From: 1, To: 4096})
	s.Group("Profiling")
	s.Text(&p.cpuProfile, "cpuprofile")
	s.Text(&p.memProfile, "memprofile")
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

// lossesTopic is the page of help on losses, with the formula of each.
func lossesTopic() *cobra.Command {
	var list strings.Builder
	for _, name := range loss.Names() {
		about, _ := loss.About(name)
		what := map[loss.Task]string{loss.Classification: "labels", loss.Regression: "numbers",
			loss.Either: "both"}[about.Task]
		fmt.Fprintf(&list, "  %-9s %-8s %s\n", name, what, about.Formula)
	}
	topic := describe(&cobra.Command{GroupID: "files"}, "losses")
	topic.Long = strings.Replace(topic.Long, "LIST\n", list.String()+"\n", 1)
	return topic
}

// commandLine is the command as a shell takes it, with more settings.
func (a *app) commandLine(more ...string) string {
	words := append([]string{"bootbench"}, a.args...)
	for _, setting := range more {
		name, value, _ := strings.Cut(setting, "=")
		words = append(words, "--"+name, value)
	}
	return shellWords(words...)
}

// shellWords are words as a shell takes them, quoted where it would not take them as one word each.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_=+./:,%@", r))
	}
	for i, word := range words {
		if quoted[i] = word; word == "" || slices.ContainsFunc([]rune(word), special) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
