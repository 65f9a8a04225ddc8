package main

import (
	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/checkpoint"
	"bootbench/dataset"
	"bootbench/model"
)

// checkpointFlags say where a solve is kept.
type checkpointFlags struct {
	path    string
	resume  bool
	options checkpoint.Options // of tests
	keeper  *checkpoint.Keeper // nil: nothing is kept
}

func (c *checkpointFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.path, "checkpoint", "",
		"after every sweep, once a second at most, keep in `FILE` what --resume needs, and in FILE.fits every exact resample; a checkpoint that is there is replaced; default: none")
	f.BoolVar(&c.resume, "resume", false,
		"go on from --checkpoint, whose data and settings must be the same but for --tol and --max-sweeps (curve: those too); default: start afresh, as where there is no FILE yet")
}

// begin says what is solved, and refuses a checkpoint of something else.
func (c *checkpointFlags) begin(set *dataset.Set, f model.Fingerprint) error {
	if c.keeper == nil {
		return nil
	}
	return c.keeper.Begin(checkpoint.Document{Data: checkpoint.Data{Name: set.Name, N: set.N(), D: set.D(),
		Digest: set.Digest()}, Settings: f})
}
