//go:build mpi && openblas

package scalapack

/*
#cgo pkg-config: ompi-c scalapack-openmpi openblas
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <string.h>

// MPI's handles are macros, which Go cannot name.

static int bb_start(int *provided, int *rank, int *size) {
	int err = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided);
	if (err != MPI_SUCCESS) return err;
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	return MPI_Comm_size(MPI_COMM_WORLD, size);
}

// bb_node counts the ranks on this machine, and the processors that these may use together: each may be bound
// to some of them.
static void bb_node(int *ranks, int *processors) {
	MPI_Comm node;
	cpu_set_t own, all;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, ranks);
	CPU_ZERO(&own);
	sched_getaffinity(0, sizeof own, &own);
	MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
	*processors = CPU_COUNT(&all);
	MPI_Comm_free(&node);
}

static long long bb_most(long long x) {
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
	return x;
}

static void bb_reduce(double *x, int n, int rank) {
	MPI_Reduce(rank ? x : MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bb_broadcast(void *x, int n, int root) {
	MPI_Bcast(x, n, MPI_BYTE, root, MPI_COMM_WORLD);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"unsafe"

	"bootbench/blas"
)

// world is the group of all ranks. Its methods may be called from any goroutine, one at a time.
type world struct {
	calls            chan func()
	rank, size       int
	perNode, threads int // ranks on a machine, at most; this rank's part of its machine's processors
}

// Join joins the processes that mpirun has started in a grid; a process started without it is a grid of one.
// It must be called once in the life of a process, by all ranks. It divides the processors of a machine among
// its ranks, unless the user has done so.
func Join() (Grid, error) {
	w, err := start()
	if err != nil {
		return nil, err
	}
	if w.size > 1 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(w.threads)
	}
	if w.size > 1 && os.Getenv("OPENBLAS_NUM_THREADS")+os.Getenv("OMP_NUM_THREADS") == "" {
		blas.Bound().SetThreads(w.threads)
	}
	return w.grid(w.shape()), nil
}

// UnderMPI reports whether this is one of several processes started by MPI: Open MPI's mpirun, others' (PMI),
// or Slurm's srun --mpi=pmix.
func UnderMPI() bool {
	several := func(name string) bool {
		count, err := strconv.Atoi(os.Getenv(name))
		return err == nil && count > 1
	}
	_, pmix := os.LookupEnv("PMIX_RANK")
	return several("OMPI_COMM_WORLD_SIZE") || several("PMI_SIZE") || pmix && several("SLURM_STEP_NUM_TASKS")
}

// start starts MPI, which wants all calls to come from the thread that initialised it: a goroutine that never
// leaves its thread makes them.
func start() (*world, error) {
	w := &world{calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for call := range w.calls {
			call()
		}
	}()
	var err error
	w.do(func() { err = w.join() })
	return w, err
}

func (w *world) join() error {
	var provided, rank, size, ranks, processors C.int
	if code := C.bb_start(&provided, &rank, &size); code != C.MPI_SUCCESS {
		return fmt.Errorf("MPI did not start (code %d)", int(code))
	}
	if provided < C.MPI_THREAD_FUNNELED {
		return errors.New("this MPI does not work in a program with threads")
	}
	C.bb_node(&ranks, &processors)
	w.rank, w.size = int(rank), int(size)
	w.threads = max(1, int(processors/ranks))
	w.perNode = int(C.bb_most(C.longlong(ranks)))
	return nil
}

func (w *world) do(call func()) {
	done := make(chan struct{})
	w.calls <- func() {
		defer close(done)
		call()
	}
	<-done
}

func (w *world) Rank() int    { return w.rank }
func (w *world) PerNode() int { return w.perNode }

func (w *world) Most(value int64) (most int64) {
	w.do(func() { most = int64(C.bb_most(C.longlong(value))) })
	return most
}

// longest is the largest number of elements in one message.
const longest = 1 << 28

func (w *world) Reduce(x []float64) {
	w.do(func() {
		for part := range slices.Chunk(x, longest) {
			C.bb_reduce((*C.double)(&part[0]), C.int(len(part)), C.int(w.rank))
		}
	})
}

func (w *world) Broadcast(text []byte, from int) []byte {
	if w.rank != from {
		text = nil
	}
	w.do(func() {
		length := C.bb_most(C.longlong(len(text)))
		if w.rank != from {
			text = make([]byte, length)
		}
		for part := range slices.Chunk(text, longest) {
			C.bb_broadcast(unsafe.Pointer(&part[0]), C.int(len(part)), C.int(from))
		}
	})
	return text
}

func (w *world) End() {
	w.do(func() { C.MPI_Finalize() })
	close(w.calls)
}
