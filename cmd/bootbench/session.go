package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"bootbench/blas"
	"bootbench/report"
)

// session is one run of the program: its streams, the flags that all commands
// share, and what has become of it.
type session struct {
	ctx            context.Context
	stdin          io.Reader
	stdout         *answer
	stderr         io.Writer
	bars           *bars
	args           []string // the command line, without the program
	began          time.Time
	started        bool // a command has begun: later errors are not of usage
	status         int  // exit status where there is an answer
	json, out      string
	trace          trace
	study          study
	checkpoint     checkpoint
	quiet          bool
	backend        string
	threads        int
	cpuProfile     string
	memProfile     string
	restore, atEnd []func() error

	// On ranks; nil otherwise.
	ranks    ranks
	signals  context.Context // ends with a signal to this rank, see poll
	cancel   context.CancelFunc
	diverged error // another rank has come to a different place
	broken   bool  // this one has failed in the middle, where others may wait for it
}

func newSession(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *session {
	return &session{ctx: ctx, args: args, stdin: stdin, stdout: &answer{w: stdout}, stderr: stderr, bars: &bars{}, began: time.Now()}
}

// answer is standard output. It keeps the first error, so that an answer that
// did not arrive cannot pass for one that did.
type answer struct {
	w   io.Writer
	err error
}

func (a *answer) Write(b []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(b)
	a.err = err
	return n, err
}

// register adds the flags that every command has.
func (s *session) register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&s.json, "json", "", "write the answer as a JSON document to `FILE`; with - to standard output, and nothing else there; default: none")
	f.StringVar(&s.backend, "backend", "", "linear algebra, `NAME`: openblas or gonum (pure Go); default: openblas where the program was built with it (tag openblas)")
	f.IntVar(&s.threads, "threads", 0, "processors to use, an integer of at least 1 (`T`); default: all of them")
	f.BoolVar(&s.quiet, "quiet", false, "no progress bars and no warnings on standard error; default: bars on a terminal only")
	f.StringVar(&s.cpuProfile, "cpuprofile", "", "write a CPU profile for go tool pprof to `FILE`; default: none")
	f.StringVar(&s.memProfile, "memprofile", "", "write a heap profile, as at the end, for go tool pprof to `FILE`; default: none")
}

// registerOut adds --out, with what the command writes there beside the page,
// its figures and the JSON document.
func (s *session) registerOut(cmd *cobra.Command, files string) {
	if files != "" {
		files = ", " + files
	}
	cmd.Flags().StringVar(&s.out, "out", "", "write report.html, its figures (SVG, PNG, CSV), result.json"+files+" into the folder `DIR`, made if it is not there; default: none")
}

// start puts the shared flags into effect, before the command itself.
func (s *session) start(cmd *cobra.Command) error {
	if err := s.bind(cmd); err != nil {
		return err
	}
	if err := s.onRanks(); err != nil {
		return err
	}
	if err := s.agree(s.checkOutputs()); err != nil {
		return err
	}
	if err := s.shareCheckpoint(); err != nil {
		return err
	}
	if err := s.profile(); err != nil {
		return err
	}
	s.bars = newBars(s.stderr, s.quiet)
	s.started = true
	return nil
}

// bind binds the backend and bounds the threads, before any linear algebra.
func (s *session) bind(cmd *cobra.Command) error {
	if s.backend != "" {
		before := blas.Bound().Name()
		if err := blas.Bind(s.backend); err != nil {
			return err
		}
		s.restore = append(s.restore, func() error { return blas.Bind(before) })
	}
	if cmd.Flags().Changed("threads") {
		const most = 4096
		if s.threads < 1 || s.threads > most {
			return usagef("--threads is %d, must be from 1 to %d", s.threads, most)
		}
		procs, backend, threads := runtime.GOMAXPROCS(s.threads), blas.Bound(), blas.Bound().Threads()
		backend.SetThreads(s.threads)
		s.restore = append(s.restore, func() error {
			runtime.GOMAXPROCS(procs)
			backend.SetThreads(threads)
			return nil
		})
	}
	return nil
}

// checkOutputs refuses output files that cannot be written, before the work.
func (s *session) checkOutputs() error {
	if s.out != "" {
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return usagef("--out: %w", err)
		}
		if err := writable(s.out); err != nil {
			return usagef("--out: %w", err)
		}
	}
	if s.trace.path != "" {
		if err := s.checkFile("trace", s.trace.path); err != nil {
			return err
		}
	}
	if err := s.checkCheckpoint(); err != nil {
		return err
	}
	if s.json == "" || s.json == "-" {
		return nil
	}
	if sameFile(s.json, s.checkpoint.path) || sameFile(s.json, s.trace.path) {
		return usagef("--json: %s is the file of --checkpoint or --trace", s.json)
	}
	return s.checkFile("json", s.json)
}

// sameFile reports whether two paths lead to one file, there or not.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(one, other)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// checkFile refuses a file that cannot be written.
func (s *session) checkFile(flag, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("--%s: %s is a directory", flag, path)
	}
	if err := writable(filepath.Dir(path)); err != nil {
		return usagef("--%s: %w", flag, err)
	}
	return nil
}

// writable tries whether a file can be made in a folder.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".bootbench-*")
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			return fmt.Errorf("%s: %w", dir, path.Err)
		}
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// profile starts the CPU profile and arranges for the heap profile.
func (s *session) profile() error {
	if s.cpuProfile != "" {
		f, err := os.Create(s.cpuProfile)
		if err != nil {
			return usagef("--cpuprofile: %w", err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(err, f.Close())
		}
		s.atEnd = append(s.atEnd, func() error { pprof.StopCPUProfile(); return f.Close() })
	}
	if s.memProfile != "" {
		f, err := os.Create(s.memProfile)
		if err != nil {
			return usagef("--memprofile: %w", err)
		}
		s.atEnd = append(s.atEnd, func() error {
			runtime.GC()
			return errors.Join(pprof.WriteHeapProfile(f), f.Close())
		})
	}
	return nil
}

// finish writes the profiles and says whether the answer has arrived.
func (s *session) finish() error {
	for len(s.atEnd) > 0 {
		last := s.atEnd[len(s.atEnd)-1]
		s.atEnd = s.atEnd[:len(s.atEnd)-1]
		if err := last(); err != nil {
			return err
		}
	}
	if s.stdout.err != nil {
		return fmt.Errorf("writing the answer: %w", s.stdout.err)
	}
	return nil
}

// close undoes what the session did to the process, for the next session in it.
func (s *session) close() {
	s.bars.clear()
	s.finish()
	for i := len(s.restore) - 1; i >= 0; i-- {
		s.restore[i]()
	}
}

// toStdout reports whether the JSON document takes standard output.
func (s *session) toStdout() bool { return s.json == "-" }

// text hands standard output to write, unless the JSON document takes it.
func (s *session) text(write func(io.Writer) error) error {
	s.bars.clear()
	if s.toStdout() {
		return nil
	}
	return write(s.stdout)
}

// document writes the JSON document where it was asked for, and into --out as
// result.json.
func (s *session) document(doc any) error {
	s.bars.clear()
	write := func(w io.Writer) error { return report.WriteJSON(w, doc) }
	if s.toStdout() {
		if err := write(s.stdout); err != nil {
			return err
		}
	} else if s.json != "" {
		if err := report.WriteFile(s.json, write); err != nil {
			return err
		}
	}
	return s.file("result.json", write)
}

// file writes a file into --out, if there is one. A part of a study leaves that to
// merge.
func (s *session) file(name string, write func(io.Writer) error) error {
	if s.out == "" || s.study.partial() {
		return nil
	}
	return report.WriteFile(filepath.Join(s.out, name), write)
}

// warn prints what the user should know about an answer.
func (s *session) warn(texts []string) {
	s.bars.clear()
	if s.quiet {
		return
	}
	for _, text := range texts {
		fmt.Fprintf(s.stderr, "bootbench: warning: %s\n", oneLine(text))
	}
}

// interrupted notes that an answer is what was finished before an interrupt.
func (s *session) interrupted() {
	s.status = exitInterrupted
	s.warn([]string{"interrupted: this is what was finished"})
}

// cost is what the answer has cost so far, times filled in but for their total.
func (s *session) cost(t report.Times) report.Cost {
	info := blas.Describe()
	t.Total = time.Since(s.began).Seconds()
	return report.Cost{
		Time:    t,
		Memory:  report.Memory{PeakBytes: peakBytes()},
		Backend: report.Backend{Name: info.Backend, Core: info.Core, Threads: info.Threads},
	}
}
