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

// bb_node counts the ranks on this machine, and the processors that these may
// use together: each may be bound to some of them.
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

static void bb_end(void) { MPI_Finalize(); }

static void bb_abort(int status) { MPI_Abort(MPI_COMM_WORLD, status); }
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"unsafe"
)

// Available says whether this binary was built with MPI.
const Available = true

// World is the group of all ranks. Its methods may be called from any goroutine, one at a time; those that
// communicate must be called by all ranks in the same order.
type World struct {
	calls            chan func()
	rank, size       int
	perNode, threads int
}

// Start joins the ranks that mpirun has started; a process started without it is
// a World of one. It must be called once in the life of a process, by all ranks.
//
// MPI wants all calls to come from the thread that initialised it: a goroutine
// that never leaves its thread makes them.
func Start() (*World, error) {
	w := &World{calls: make(chan func())}
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

func (w *World) join() error {
	var provided, rank, size, ranks, processors C.int
	if code := C.bb_start(&provided, &rank, &size); code != C.MPI_SUCCESS {
		return fmt.Errorf("MPI did not start (code %d)", int(code))
	}
	if provided < C.MPI_THREAD_FUNNELED {
		return fmt.Errorf("this MPI does not work in a program with threads")
	}
	C.bb_node(&ranks, &processors)
	w.rank, w.size = int(rank), int(size)
	w.threads = max(1, int(processors/ranks))
	w.perNode = int(C.bb_most(C.longlong(ranks)))
	return nil
}

// do runs a call on MPI's thread.
func (w *World) do(call func()) {
	done := make(chan struct{})
	w.calls <- func() {
		defer close(done)
		call()
	}
	<-done
}

// Rank is the number of this process, from 0 to Size-1.
func (w *World) Rank() int { return w.rank }

// Size is the number of processes.
func (w *World) Size() int { return w.size }

// PerNode is the largest number of ranks on one machine.
func (w *World) PerNode() int { return w.perNode }

// Threads is this rank's share of the processors that the ranks on its machine may use.
func (w *World) Threads() int { return w.threads }

// Most is the largest value that a rank brings, on all ranks.
func (w *World) Most(value int64) (most int64) {
	w.do(func() { most = int64(C.bb_most(C.longlong(value))) })
	return most
}

// longest is the number of elements in one message.
const longest = 1 << 28

// Reduce adds x up over the ranks. Rank 0 gets the sum; what the others keep is of no use.
func (w *World) Reduce(x []float64) {
	w.do(func() {
		for part := range slices.Chunk(x, longest) {
			C.bb_reduce((*C.double)(&part[0]), C.int(len(part)), C.int(w.rank))
		}
	})
}

// Broadcast returns rank from's text on all ranks.
func (w *World) Broadcast(text []byte, from int) []byte {
	if w.size == 1 {
		return text
	}
	if w.rank != from {
		text = nil
	}
	w.do(func() {
		length := C.bb_most(C.longlong(len(text)))
		if w.rank != from {
			text = make([]byte, length)
		}
		for part := range slices.Chunk(text, math.MaxInt32) {
			C.bb_broadcast(unsafe.Pointer(&part[0]), C.int(len(part)), C.int(from))
		}
	})
	return text
}

// End leaves MPI, when all ranks do. The World is of no use afterwards.
func (w *World) End() {
	w.do(func() { C.bb_end() })
	close(w.calls)
}

// Abort ends all ranks at once, also while others communicate. It does not return.
func (w *World) Abort(status int) {
	// Not by way of do: its thread may be waiting for other ranks. That the call
	// comes from another thread does not matter to what ends the process.
	C.bb_abort(C.int(status))
	os.Exit(status)
}
