package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
)

// outputs are where an answer goes beside standard output.
type outputs struct {
	json   string // --json
	out    string // --out; "": none
	folder files.Folder
}

func (o *outputs) register(f *pflag.FlagSet) {
	f.StringVar(&o.json, "json", "",
		"write the answer as a JSON document to `FILE`; with - to standard output, and nothing else there; "+
			"default: none")
}

// registerOut adds --out to a command, with what it writes there beside the page,
// its figures and the JSON document.
func registerOut(cmd *cobra.Command, others string) {
	if others != "" {
		others = ", " + others
	}
	cmd.Flags().String("out", "",
		"write report.html, its figures (SVG, PNG, CSV), result.json"+others+" into the folder `DIR`, made if it "+
			"is not there; default: none")
}

// use reads --out of the command that runs: its default is not that of all commands.
func (o *outputs) use(cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("out"); f != nil {
		o.out = f.Value.String()
	}
}

// stdout reports whether the JSON document takes standard output.
func (o *outputs) stdout() bool { return o.json == "-" }
