package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "The version of the program; info tells more",
		Example: "  bootbench version",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.text(func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s %s\n", c.Root().Name(), c.Root().Version)
				return err
			})
		},
	}
}

func infoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Linear algebra backend, processor, memory and versions",
		Long: `info says what does the arithmetic: the backend, the kernels that it chose for
this processor and its threads; the processor, the memory that is left, and the
versions of the libraries. A warning names what keeps the backend below what the
processor can do.`,
		Example: `  bootbench info
  bootbench info --backend gonum --threads 1 --json -`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.print(machine()) },
	}
}
