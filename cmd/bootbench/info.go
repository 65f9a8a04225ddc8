package main

import "github.com/spf13/cobra"

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
