package main

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"bootbench/blas"
	"bootbench/linalg/dist"
	"bootbench/model"
)

// ranks are the processes that run one command together, each the same one. Rank
// 0 alone prints and writes files.
type ranks interface {
	dist.Grid
	// Threads is this rank's share of its machine's processors.
	Threads() int
	// End takes leave of the other ranks, Abort ends them all at once.
	End()
	Abort(status int)
}

// rankGroup is a run's place among ranks. A nil rankGroup is a program alone.
type rankGroup struct {
	ranks
	signals  context.Context // ends with a signal to this rank, see syncCancel
	cancel   context.CancelFunc
	diverged error // another rank has come to a different place
	broken   bool  // this one has failed in the middle, where others may wait for it
}

// wantsRanks reports whether a command line asks for an engine that runs on ranks: scalapack,
// or, in one of several processes of mpirun, lowrank for a command that can share one solve.
func wantsRanks(args []string, lookup func(string) (string, bool)) bool {
	engine, command, parts := "", "", false
	for i, arg := range args { // the last engine counts
		if value, ok := strings.CutPrefix(arg, "--engine="); ok {
			engine = value
		} else if arg == "--engine" && i+1 < len(args) {
			engine = args[i+1]
		} else if arg == "--shard" || strings.HasPrefix(arg, "--shard=") {
			parts = true
		} else if command == "" && !strings.HasPrefix(arg, "-") {
			command = arg
		}
	}
	lowRank := engine == model.LowRank.String() && !parts && slices.Contains(rankCommands, command) &&
		severalProcesses(lookup)
	return lowRank || engine == model.ScaLAPACK.String()
}

// rankCommands are the commands whose solve ranks can share.
var rankCommands = []string{"estimate", "predict", "curve", "grid", "tune"}

// severalProcesses reports whether this is one of several processes that an MPI has started:
// Open MPI's mpirun, others' (PMI), or Slurm's srun --mpi=pmix.
func severalProcesses(lookup func(string) (string, bool)) bool {
	several := func(name string) bool {
		text, _ := lookup(name)
		count, err := strconv.Atoi(text)
		return err == nil && count > 1
	}
	_, pmix := lookup("PMIX_RANK")
	return several("OMPI_COMM_WORLD_SIZE") || several("PMI_SIZE") || pmix && several("SLURM_STEP_NUM_TASKS")
}

// gcPercent is GOGC on ranks and beside large models: nearly all of the memory is one live
// matrix, which Go would allow to be matched by as much garbage.
const gcPercent = 10

// limitThreads shares the processors of a machine among its ranks, unless the user
// has done so.
func limitThreads(threads int, lookup func(string) (string, bool)) {
	if _, set := lookup("GOMAXPROCS"); !set {
		runtime.GOMAXPROCS(threads)
	}
	_, own := lookup("OPENBLAS_NUM_THREADS")
	_, omp := lookup("OMP_NUM_THREADS")
	if !own && !omp {
		blas.Bound().SetThreads(threads)
	}
}

// sharedInput is rank 0's standard input, on all ranks: mpirun gives it to rank 0
// alone. It is read whole at the first Read.
type sharedInput struct {
	ranks dist.Grid
	r     io.Reader
	whole *bytes.Reader
}

func (i *sharedInput) Read(p []byte) (int, error) {
	if i.whole == nil {
		var text []byte
		var err error
		if i.ranks.Rank() == 0 {
			text, err = io.ReadAll(i.r)
		}
		if err := dist.AllErr(i.ranks, err, nil); err != nil {
			return 0, err
		}
		i.whole = bytes.NewReader(i.ranks.BroadcastBytes(text, 0))
	}
	return i.whole.Read(p)
}

// rankZeroOnly reports whether this process leaves printing and files to rank 0.
func (g *rankGroup) rankZeroOnly() bool { return g != nil && g.Rank() > 0 }

// agree is an error on all ranks where it is one on any.
func (g *rankGroup) agree(err error) error {
	if g == nil {
		return err
	}
	return dist.AllErr(g.ranks, err, nil)
}

// first makes numbers those of rank 0.
func (g *rankGroup) first(x []float64) {
	if _, err := g.Barrier("numbers of rank 0", int64(len(x))); err != nil {
		panic(&dist.DesyncError{Err: err})
	}
	g.Broadcast(x, 0)
}

// syncCancel ends the run's context on all ranks at the same place of the program,
// once a signal has reached one of them.
func (g *rankGroup) syncCancel() {
	if g == nil {
		return
	}
	interrupted := int64(0)
	if g.signals.Err() != nil {
		interrupted = 1
	}
	if any, err := g.Barrier("interrupted?", interrupted); err != nil {
		panic(&dist.DesyncError{Err: err})
	} else if any > 0 {
		g.cancel()
	}
}
