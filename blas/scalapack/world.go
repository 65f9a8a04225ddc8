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

static void bb_most(long long *x, int n) {
	MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
}

static void bb_reduce(double *x, int n, int root) {
	MPI_Reduce(root ? MPI_IN_PLACE : x, x, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bb_broadcast(double *x, int n, int root) {
	MPI_Bcast(x, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void bb_broadcast_bytes(void *x, int n, int root) {
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
	w.perNode = int(w.most([]int64{int64(ranks)})[0])
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
	w.do(func() { most = w.most([]int64{value})[0] })
	return most
}

func (w *World) most(x []int64) []int64 {
	all := make([]int64, max(1, len(x)))
	copy(all, x)
	C.bb_most((*C.longlong)(&all[0]), C.int(len(x)))
	return all[:len(x)]
}

// longest is the number of elements in one message.
const longest = 1 << 28

// Reduce adds x up over the ranks. Rank 0 gets the sum; what the others keep is of no use.
func (w *World) Reduce(x []float64) {
	w.messages(x, func(part []float64) {
		C.bb_reduce((*C.double)(&part[0]), C.int(len(part)), root(w.rank == 0))
	})
}

// Broadcast copies rank from's x to all ranks.
func (w *World) Broadcast(x []float64, from int) {
	w.messages(x, func(part []float64) {
		C.bb_broadcast((*C.double)(&part[0]), C.int(len(part)), C.int(from))
	})
}

func (w *World) messages(x []float64, send func(part []float64)) {
	if w.size == 1 || len(x) == 0 {
		return
	}
	w.do(func() {
		for ; len(x) > longest; x = x[longest:] {
			send(x[:longest])
		}
		send(x)
	})
}

func root(is bool) C.int {
	if is {
		return 1
	}
	return 0
}

// BroadcastBytes returns rank from's bytes on all ranks.
func (w *World) BroadcastBytes(text []byte, from int) []byte {
	if w.size == 1 {
		return text
	}
	if w.rank != from {
		text = nil
	}
	w.do(func() {
		length := w.most([]int64{int64(len(text))})[0]
		if w.rank != from {
			text = make([]byte, length)
		}
		for rest := text; len(rest) > 0; {
			part := rest[:min(len(rest), math.MaxInt32)]
			C.bb_broadcast_bytes(unsafe.Pointer(&part[0]), C.int(len(part)), C.int(from))
			rest = rest[len(part):]
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
