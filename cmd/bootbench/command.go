package main

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// command is a command of the program. Its page of help is help/NAME.txt, its flags are in help/names.txt.
type command struct {
	name     string
	group    string            // in help; "": "main"
	second   string            // the flag that a second argument stands for; "": none
	defaults map[string]string // defaults that differ from other commands'
	losses   []string          // losses that it trains; nil: all
	out      string            // its files in --out; "-": it has no --out
	run      func(a *app, o *options, args []string)
}

//go:embed help
var help embed.FS

//go:embed help/flags.txt
var flagPage string

// flagHelp is the help of the flags. A name with a part after "/" has several variants.
var flagHelp = flags.ReadHelp(flagPage)

// describe sets a command's help: usage and summary, a line each, paragraphs, and examples.
func describe(cmd *cobra.Command, name string) *cobra.Command {
	use, rest, _ := strings.Cut(string(steps.Must(help.ReadFile("help/"+name+".txt"))), "\n")
	if cmd.Use = strings.TrimPrefix(use, "bootbench "); name == "bootbench" {
		cmd.Use = name
	}
	cmd.Short, rest, _ = strings.Cut(rest, "\n")
	cmd.Long, cmd.Example, _ = strings.Cut(strings.Trim(rest, "\n"), "\n\nExamples:\n")
	return cmd
}

// flagLists are the flags of each command, and other lists of flags, by name.
var flagLists = flags.ReadNames(namePage)

//go:embed help/names.txt
var namePage string

// allCommands are the commands about DATA, and auxiliary ones.
var allCommands = []*command{
	{name: "compare", run: runCompare, out: ", compare.csv",
		defaults: map[string]string{"ratio": "1", "resamples": fmt.Sprint(bench.DefaultResamples)}},
	{name: "estimate", run: runEstimate, out: ", points.csv", second: "out"},
	{name: "curve", run: runCurve, out: ", curve.csv", defaults: map[string]string{"ratio": "0.1:5:20"}},
	{name: "predict", run: runPredict, out: ", points.csv", second: "test"},
	{name: "retrain", run: runRetrain, out: ", points.csv"},
	{name: "cv", run: runCV, out: ", points.csv"},
	{name: "rows", run: runRows, out: ", rows.csv"},
	{name: "columns", run: runColumns, out: ", columns.csv"},
	{name: "loo", run: runLOO, losses: []string{"hard", "hinge", "square"}},
	{name: "grid", run: runGrid, out: ", grid.csv",
		defaults: map[string]string{"by": tune.LeftOut.String()}},
	{name: "tune", run: runTune},
	{name: "train", run: runTrain, losses: append(loss.Names(), perceptronLoss)},
	{name: "datasets", group: "files", run: runDatasets, out: "-"},
	{name: "merge", group: "files", run: runMerge, out: ", what the command writes there"},
	{name: "info", group: "files", run: runInfo, out: "-"},
}

func (c *command) cobra(a *app) *cobra.Command {
	cmd := describe(&cobra.Command{GroupID: cmp.Or(c.group, "main")}, c.name)
	o := optionsOf(c, cmd.Flags())
	if c.out != "-" {
		o.Group("Output")
		o.Text(&a.outputs.out, "out")
		flag := o.Lookup("out")
		flag.Usage = fmt.Sprintf(flag.Usage, c.out)
		o.List(&a.outputs.ignore, "ignore")
	}
	flags.RefuseTwice(cmd.Flags())
	cmd.Args = func(_ *cobra.Command, args []string) error {
		return steps.Run(func() {
			steps.Check(flagError(cmd, cmd.ParseFlags(c.flagged(o, args))))
			o.checkArguments(c.name, cmd.Flags().Args())
		})
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		args := cmd.Flags().Args()
		a.command, a.options, a.data = c, o, args
		return steps.Run(func() {
			if err := report.CheckCodes(a.outputs.ignore); err != nil {
				refuse("--ignore: %w", err)
			}
			a.checkFlags(o, c.name, args)
			c.run(a, o, args)
		})
	}
	return cmd
}

// flagged are arguments with flags in place of those that stand for one: the second, a model file in place of
// DATA, and the model file that train names after DATA.
func (c *command) flagged(o *options, args []string) (line []string) {
	isData := func(name string) bool { // and no folder to write into
		return strings.ContainsAny(name, ".:") || slices.Contains(dataset.Names(), name)
	}
	if len(args) == 2 && c.second != "" && (c.second != "out" || !isData(filepath.Base(args[1]))) {
		line, args = append(line, "--"+c.second+"="+args[1]), args[:1]
	}
	switch {
	case len(args) != 1:
	case c.name == "predict" && o.Given("model") && !o.Given("test"):
		line, args = append(line, "--test="+args[0]), nil
	case c.name == "predict" && filepath.Ext(args[0]) == modelExtension:
		line, args = append(line, "--model="+args[0]), nil
	case c.name == "train" && !o.Given("model"):
		line = append(line, "--model="+modelName(args[0]))
	}
	return append(append(line, "--"), args...)
}

// checkArguments refuses a wrong number of arguments: most commands take one DATA.
func (o *options) checkArguments(name string, args []string) {
	export := map[bool]int{true: 1}[o.exportName != ""]
	switch n := len(args); {
	case name == "merge" && n == 0:
		refuse("merge takes the folders of journals, and here is none")
	case name == "info" && n > 0:
		refuse("info takes no arguments, not %q", args[0])
	case name == "datasets" && n != export:
		refuse("%d arguments: datasets takes a FILE with --export NAME and none without", n)
	case slices.Contains([]string{"compare", "merge", "info", "datasets"}, name):
	case name == "predict" && o.model != "" && n > 0:
		refuse("predict takes DATA or --model FILE, not both")
	case name == "predict" && o.model != "":
		o.only(flagLists["by-model"], "has no meaning with --model: the file holds a model that is "+
			"trained once, and its preprocessing")
	case n != 1:
		refuse("%s takes one DATA, a file or a set (bootbench datasets lists them), not %d", name, n)
	}
}

func (o *options) only(allowed []string, why string) {
	o.Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			refuse("--%s %s", f.Name, why)
		}
	})
}

func newRoot(a *app) *cobra.Command {
	root := describe(&cobra.Command{
		Version:       report.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// with the flags that all commands share
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return steps.Run(func() {
				a.checkOutputs(cmd)
				steps.Check(a.process.begin())
				a.console.ShowProgress()
				a.started = true
			})
		},
	}, "bootbench")
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	all := false
	shared := flags.New(root.PersistentFlags(), flagHelp, nil)
	shared.Group("Output")
	shared.Text(&a.outputs.json, "json")
	shared.Switch(&a.console.Quiet, "quiet")
	shared.Value("log", "text", func(text string) (string, error) {
		if text == "json" {
			a.console.Record()
		} else if text != "text" {
			return "", fmt.Errorf("takes text or json, not %q", text)
		}
		return text, nil
	})
	shared.Group("Solving")
	p := &a.process
	shared.Text(&p.backend, "backend")
	shared.Whole(&p.threads, "threads", 0, flags.Range{From: 1, To: 4096})
	shared.Group("Profiling")
	shared.Text(&p.cpuProfile, "cpuprofile")
	shared.Text(&p.memProfile, "memprofile")
	shared.BoolFunc("help-all", "help with all flags; default: those needed first",
		func(string) error { all = true; return pflag.ErrHelp })
	flags.RefuseTwice(root.PersistentFlags())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { flags.Describe(c, all) })
	root.SetUsageFunc(func(c *cobra.Command) error { return flags.Usage(c, all) })
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID("files")
	root.SetCompletionCommandGroupID("files")
	root.AddGroup(&cobra.Group{ID: "main", Title: "Commands:"},
		&cobra.Group{ID: "files", Title: "Data, parts and the machine:"})
	for _, c := range allCommands {
		root.AddCommand(c.cobra(a))
	}
	root.AddCommand(lossesTopic())
	return root
}

// helpCommand prints the help of a command, and refuses an unknown one.
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

// plainWord is a word that needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w=+./:,%@-]+$`)

// line is the command line for a shell.
func (a *app) line() string { return shellWords(append([]string{"bootbench"}, a.args...)...) }

// shellWords are words for a shell, quoted if necessary.
func shellWords(words ...string) string {
	quoted := slices.Clone(words)
	for i, word := range words {
		if !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// elsewhere are flags by their names in other programs.
var elsewhere = map[string]string{
	"alpha": "noise", "lambda": "noise", "sigma": "length-scale", "cost": "C", "cv": "folds",
	"weight": "class-weight", "weights": "class-weight", "scale-pos-weight": "class-weight",
	"label": "target", "labels": "target", "n-jobs": "threads", "random-state": "seed", "output": "out",
	"bootstrap": "resamples", "checkpoint": "journal", "resume": "journal", "delta": "epsilon",
}

// gone are flags that a command no longer has, with what does their work.
var gone = map[string]string{
	"level": "predict has it", "covariance": "predict has it, also at the rows of DATA",
	"max-rank":   "--max-memory bounds the rank",
	"max-levels": "merge rare texts in DATA", "zero-based": "lines with an index 0 count from 0",
}

// flagError explains an error of a flag, with a cure.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usage.Errorf("unknown flag: -%s; flags begin with two dashes",
			unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return usage.Errorf("unknown flag: --%s%s", unknown.GetSpecifiedName(),
			meant(c, unknown.GetSpecifiedName()))
	case errors.As(err, &invalid):
		return wrongValue(invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap())
	}
	return err
}

// meant suggests a flag for an unknown one.
func meant(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if other := elsewhere[name]; slices.Contains(names, other) {
		return fmt.Sprintf("; it is called --%s here", other)
	}
	if cure := gone[name]; cure != "" {
		return "; " + cure
	}
	if near := usage.Nearest(name, names...); near != "" {
		return near
	}
	return fmt.Sprintf("; %s --help-all lists the flags", c.CommandPath())
}

// wrongValue says which values a flag takes. Errors of package flags continue the flag's name.
func wrongValue(f *pflag.Flag, value string, reason error) error {
	takes := map[string]string{"uint64": "a whole number of at least 0", "bool": "true or false",
		"intSlice":    "whole numbers separated by commas",
		"stringSlice": "texts separated by commas"}[f.Value.Type()]
	if takes == "" || errors.Is(reason, flags.ErrTwice) {
		return usage.Errorf("--%s %w", f.Name, reason)
	}
	return usage.Errorf("--%s takes %s, not %q", f.Name, takes, value)
}

// cure is a remedy on the command line for a failure.
func cure(c *cobra.Command, err error) string {
	limit := c.Flags().Lookup("max-memory")
	switch {
	case errors.Is(err, train.Diverged.Err()):
		return ": --loss hinge --C 1, a kernel that separates more, or --jitter"
	case errors.Is(err, linalg.ErrMemory) && limit != nil && limit.Changed:
		return " (--max-memory)"
	}
	if data, _, ok := strings.Cut(err.Error(), ": neither a file nor"); ok {
		return usage.Nearest(data, dataset.Names()...)
	}
	return ""
}
