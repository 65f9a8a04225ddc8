package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

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

// wantsRanks reports whether a command line asks for the engine that runs on
// ranks.
func wantsRanks(args []string) bool {
	engine := ""
	for i, arg := range args { // the last one counts
		if value, ok := strings.CutPrefix(arg, "--engine="); ok {
			engine = value
		} else if arg == "--engine" && i+1 < len(args) {
			engine = args[i+1]
		}
	}
	return engine == model.ScaLAPACK.String()
}

// runOnRanks is run on every rank. All return the same status, the largest; where
// one has failed alone, it says so and ends them all.
func runOnRanks(ctx context.Context, r ranks, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	limitThreads(r.Threads(), os.LookupEnv)
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(garbage)
	}
	var held bytes.Buffer // what another rank than 0 would say
	own := stderr
	if r.Rank() > 0 {
		stdout, own = io.Discard, &held
	}
	s := newSession(ctx, args, &sharedInput{ranks: r, r: stdin}, stdout, own)
	s.ranks = r
	s.ctx, s.cancel = context.WithCancel(context.Background())
	defer s.cancel()
	s.signals = ctx
	status := s.run()
	if s.diverged == nil && !s.broken {
		most, err := r.Barrier("end", int64(status))
		if err == nil {
			r.End()
			return int(most)
		}
		if status == exitDone {
			s.diverged = err
		}
	}
	if s.diverged != nil { // another rank has failed: it may say why first
		time.Sleep(time.Second)
		fmt.Fprintf(stderr, "bootbench: %v\n", s.diverged)
		status = exitFailed
	}
	stderr.Write(held.Bytes())
	r.Abort(status)
	return status
}

// garbage is the share, in percent, of a rank's memory that may be garbage. Nearly all
// of it is one matrix, which Go would allow to be matched by as much.
const garbage = 10

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

// agree is an error on all ranks where it is one on any.
func (s *session) agree(err error) error {
	if s.ranks == nil {
		return err
	}
	return dist.AllErr(s.ranks, err, nil)
}

// poll ends the session's context on all ranks at the same place of the program,
// once a signal has reached one of them.
func (s *session) poll() {
	if s.ranks == nil {
		return
	}
	interrupted := int64(0)
	if s.signals.Err() != nil {
		interrupted = 1
	}
	if any, err := s.ranks.Barrier("interrupted?", interrupted); err != nil {
		panic(&dist.DesyncError{Err: err})
	} else if any > 0 {
		s.cancel()
	}
}

// onRanks refuses flags that have no meaning on ranks, and keeps all but rank 0
// from writing files.
func (s *session) onRanks() error {
	if s.ranks == nil {
		return nil
	}
	if s.study.wanted != "" {
		return usagef("--shard splits a study into processes, --engine %v spreads one solve over ranks: take one of them", model.ScaLAPACK)
	}
	if s.ranks.Rank() > 0 {
		s.json, s.out, s.trace.path, s.cpuProfile, s.memProfile = s.own(s.json), "", "", "", ""
		s.checkpoint.replace = func(string, []byte) error { return nil }
	}
	return nil
}

// shareCheckpoint gives the checkpoint that rank 0 has found to all ranks.
func (s *session) shareCheckpoint() error {
	c := &s.checkpoint
	if s.ranks == nil || c.path == "" || !c.resume {
		return nil
	}
	var content []byte
	var err error
	if c.found != nil {
		content, err = c.found.encode()
	}
	if err := s.agree(err); err != nil {
		return err
	}
	if content = s.ranks.BroadcastBytes(content, 0); len(content) > 0 {
		c.found, err = decodeCheckpoint(content)
	}
	return err
}

// own is the name of a file that this process is to write, if it is rank 0.
// Standard output stays what it is: another rank's goes nowhere.
func (s *session) own(path string) string {
	if s.ranks != nil && s.ranks.Rank() > 0 && path != "-" {
		return ""
	}
	return path
}
