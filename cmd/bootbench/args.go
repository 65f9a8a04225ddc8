package main

import (
	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/usage"
)

// oneData refuses anything but one DATA.
func oneData(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage.Errorf("%s takes one DATA, a file or a set (bootbench datasets lists them), not %d",
			cmd.Name(), len(args))
	}
	return nil
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage.Errorf("%s takes no arguments, not %q", cmd.Name(), args[0])
	}
	return nil
}
