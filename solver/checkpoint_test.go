package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// record solves and returns the State after every sweep, each as it comes back
// from a document: bit for bit.
func record(t testing.TB, p solver.Problem, settings solver.Settings) (*solver.Solution, []*solver.State) {
	t.Helper()
	var states []*solver.State
	settings.Checkpoint = func(s *solver.State) error {
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		back := new(solver.State)
		if err := json.Unmarshal(text, back); err != nil {
			return err
		}
		if !reflect.DeepEqual(s, back) {
			t.Errorf("sweep %d: a document changes the state", s.Stats.Sweeps)
		}
		states = append(states, back)
		return nil
	}
	solution := mustSolve(t, p, settings)
	if all := strings.Join(solution.Warnings, " "); strings.Contains(all, "checkpoint") {
		t.Fatal(all)
	}
	return solution, states
}

// refreshes is the number of times that G was moved.
func refreshes(s solver.Stats) int {
	r := s.Refreshes
	return r.Exact + r.Single + r.Woodbury
}

// interruptible is a problem whose solve is cut off after every stride-th sweep.
type interruptible struct {
	name string
	solver.Problem
	solver.Settings
	stride int
	stages []solver.Phase // that the solve must come through
	off    float64        // by which the answers may differ
}

// interruptibles take every way through the solver. A solve that goes on from a
// State has the same numbers before it as the undisturbed one and therefore ends
// at the same bits, except where G had been moved by less than a factorisation,
// which going on does not repeat: there it ends within the tolerance of 1e-6, times
// ten for slow directions.
func interruptibles(t testing.TB) []interruptible {
	blobs := func(n int, l loss.Loss) solver.Problem {
		set := synthetic(t, fmt.Sprintf("synthetic:blobs,d=4,seed=5,n=%d", n))
		k, _ := gram(t, kernel.Spec{Gamma: 0.25}, set.X)
		return solver.Problem{Gram: k, Y: set.Y, Loss: l, Law: resample.Poisson{Ratio: 1}}
	}
	friedman := func(n int) solver.Problem {
		set := synthetic(t, fmt.Sprintf("synthetic:friedman1,n=%d", n))
		k, _ := gram(t, kernel.Spec{Amplitude: 25, Constant: 200}, set.X)
		return solver.Problem{Gram: k, Y: set.Y, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 1}}
	}
	low := func(p solver.Problem) solver.Problem {
		factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: p.Gram.(*linalg.Sym)},
			linalg.RankOptions{Tol: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		p.Gram = factor
		return p
	}
	hard := loss.HardMargin{}
	sweeping := []solver.Phase{solver.FixedPoint}
	return []interruptible{
		{"square", friedman(200), solver.Settings{}, 1, nil, 1e-5},
		{"square, exact steps", ordinary(), solver.Settings{Disable: solver.AllAccelerations}, 1, nil, 0},
		{"square, low rank", low(friedman(200)), solver.Settings{}, 1, nil, 1e-5},
		{"square, variational", ordinary(), solver.Settings{Method: solver.Variational}, 1, nil, 1e-5},
		{"hard", blobs(80, hard), solver.Settings{}, 1, sweeping, 0},
		{"hinge", blobs(80, loss.Hinge{C: 10}), solver.Settings{}, 1, sweeping, 0},
		{"hinge, low rank", low(blobs(80, loss.Hinge{C: 10})), solver.Settings{}, 1, sweeping, 0},
		// Without Newton's method a State says where the sweep in progress goes.
		{"hinge, no Newton", blobs(80, loss.Hinge{C: 10}), solver.Settings{Disable: solver.Newton}, 1, sweeping, 0},
		{"logistic", blobs(30, loss.Logistic{C: 1}), solver.Settings{}, 1, sweeping, 0},
		{"logistic, exact steps", blobs(30, loss.Logistic{C: 1}), solver.Settings{Disable: solver.AllAccelerations},
			1, sweeping, 0},
		{"hard, by the factor", overlap{"checker,n=100", 0.05, hard, 1, nil}.problem(t), solver.Settings{}, 3,
			[]solver.Phase{solver.FixedPoint, solver.VerifyLowRank}, 0},
		{"hard, by a path", overlap{"blobs,n=200", 1, hard, 5, nil}.problem(t), solver.Settings{}, 17,
			[]solver.Phase{solver.FixedPoint, solver.VerifyLowRank, solver.OnPath}, 0},
		{"hinge, by plain sweeps", overlap{"blobs,n=54,seed=3,d=5", 8, loss.Hinge{C: 1}, 2, nearCopies}.problem(t),
			solver.Settings{}, 97,
			[]solver.Phase{solver.FixedPoint, solver.OnPath, solver.FinalPolish, solver.PlainSweeps}, 0},
	}
}

// TestResumeFromEverySweep: whichever sweep a solve is cut off after, going on
// from its State ends at the same answer. It costs one refresh of G, which the
// State does not hold, or none where the State says where the next sweep goes.
func TestResumeFromEverySweep(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for _, cell := range interruptibles(t) {
		t.Run(cell.name, func(t *testing.T) {
			whole, states := record(t, cell.Problem, cell.Settings)
			if whole.Status != solver.Converged || len(states) < 3 {
				t.Fatalf("%v after %d states", whole.Status, len(states))
			}
			var seen []solver.Phase
			most := 0
			for i, state := range states {
				if state.Search != nil {
					seen = append(seen, state.Search.Phase)
				}
				if i%cell.stride > 0 && i < len(states)-1 {
					continue
				}
				settings := cell.Settings
				settings.Resume = state
				again := mustConverge(t, cell.Problem, settings)
				if cell.off == 0 {
					identical(t, again, whole)
				} else {
					sameAnswer(t, again, whole, cell.off)
				}
				more := refreshes(again.Stats) - refreshes(whole.Stats)
				if i == len(states)-1 && more != 1 {
					t.Errorf("a finished solve takes %d refreshes to answer", more)
				}
				if most = max(most, more); more > 1 || more > 0 && state.Next != nil && cell.off == 0 {
					t.Errorf("from sweep %d: %d refreshes more than the undisturbed %d", state.Stats.Sweeps, more,
						refreshes(whole.Stats))
				}
			}
			for _, stage := range cell.stages {
				if !slices.Contains(seen, stage) {
					t.Errorf("the solve never was at stage %d", stage)
				}
			}
			t.Logf("%d states, at most %d refreshes more than %d", len(states), most, refreshes(whole.Stats))
		})
	}
}

// identical insists on the same answer to the last bit.
func identical(t testing.TB, a, b *solver.Solution) {
	t.Helper()
	if !slices.Equal(a.SitePrecision, b.SitePrecision) || !slices.Equal(a.SiteMean, b.SiteMean) ||
		!slices.Equal(a.SiteVariance, b.SiteVariance) ||
		!slices.Equal(a.Cavity, b.Cavity) || !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Var, b.Var) {
		t.Errorf("the answers differ, by %.1e in the means", far(a.Mean, b.Mean, 1e-3))
	}
}

// TestResumeWithoutEnd: a solve that comes to no end comes to the same none, from
// whatever stage.
func TestResumeWithoutEnd(t *testing.T) {
	p := overlap{"blobs,n=100", 0.05, loss.HardMargin{}, 20, nil}.problem(t)
	whole, states := record(t, p, solver.Settings{})
	if whole.Status == solver.Converged {
		t.Fatal("it converges")
	}
	stages := map[solver.Phase]bool{}
	for i, state := range states {
		if stages[state.Search.Phase] && i < len(states)-1 {
			continue
		}
		stages[state.Search.Phase] = true
		again := mustSolve(t, p, solver.Settings{Resume: state})
		if again.Status != whole.Status {
			t.Errorf("from stage %d: %v, undisturbed %v", state.Search.Phase, again.Status, whole.Status)
		}
		if more := refreshes(again.Stats) - refreshes(whole.Stats); more > 2 {
			t.Errorf("from stage %d: %d refreshes more than %d", state.Search.Phase, more, refreshes(whole.Stats))
		}
		identical(t, again, whole)
	}
	if !stages[solver.OnPath] || !stages[solver.FinalPolish] {
		t.Errorf("stages %v", stages)
	}
}

// TestResumeCancelled: cancelled after every sweep and resumed each time, a solve
// gets there in as many sweeps and as many refreshes more as there were
// resumptions; so does one that ends at a limit of sweeps each time.
func TestResumeCancelled(t *testing.T) {
	for _, cell := range interruptibles(t)[:8] {
		whole := mustConverge(t, cell.Problem, cell.Settings)
		var state *solver.State
		for resumptions := 0; ; resumptions++ {
			ctx, cancel := context.WithCancel(context.Background())
			settings, calls := cell.Settings, 0
			settings.Resume = state
			settings.Checkpoint = func(s *solver.State) error { state = s; return nil }
			settings.Progress = func(solver.Sweep) {
				if calls++; calls == 2 { // the first may repeat a sweep
					cancel()
				}
			}
			s, err := solver.Solve(ctx, cell.Problem, settings)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if s.Status == solver.Converged {
				sameAnswer(t, s, whole, 1e-5)
				if more := refreshes(s.Stats) - refreshes(whole.Stats); more > resumptions+1 {
					t.Errorf("%s: %d refreshes more in %d resumptions", cell.name, more, resumptions)
				}
				break
			}
			if s.Status != solver.Cancelled || resumptions > 3*refreshes(whole.Stats) {
				t.Fatalf("%s: %v at resumption %d", cell.name, s.Status, resumptions)
			}
		}
	}
}

// TestCheckpointFails: what the caller cannot keep is told, and changes nothing.
func TestCheckpointFails(t *testing.T) {
	for _, cell := range interruptibles(t)[4:6] {
		whole, states := record(t, cell.Problem, cell.Settings)
		settings, calls := cell.Settings, 0
		settings.Checkpoint = func(*solver.State) error {
			if calls++; calls > 1 {
				return errors.New("no space left on device")
			}
			return nil
		}
		s := mustConverge(t, cell.Problem, settings)
		identical(t, s, whole)
		want := fmt.Sprintf("%d of %d checkpoints could not be kept: no space left on device", len(states)-1,
			len(states))
		if !slices.Contains(s.Warnings, want) {
			t.Errorf("warnings %q, want %q", s.Warnings, want)
		}
	}
}

// onPath is the first of some problems whose solve follows a path, which depends on the last bits
// of its arithmetic, with its states and the number of one on the path.
func onPath(t *testing.T, cells []interruptible) (cell interruptible, states []*solver.State, at int) {
	for _, cell := range cells {
		_, states := record(t, cell.Problem, cell.Settings)
		at := slices.IndexFunc(states, func(s *solver.State) bool {
			return s.Search.Continuation != nil && s.Search.Continuation.Step > 0
		})
		if at >= 0 {
			return cell, states, at
		}
	}
	t.Fatal("no solve follows a path")
	return cell, nil, 0
}

// TestForeignState: what is no State of the problem is refused.
func TestForeignState(t *testing.T) {
	cells := interruptibles(t)
	square, hinge := cells[0], cells[5]
	_, ofSquare := record(t, square.Problem, square.Settings)
	_, ofHinge := record(t, hinge.Problem, hinge.Settings)
	path, ofPath, at := onPath(t, cells[11:])
	tests := []struct {
		name  string
		cell  interruptible
		state *solver.State
		spoil func(s *solver.State)
	}{
		{"square for hinge", hinge, ofSquare[0], func(s *solver.State) { s.D, s.Next = s.D[:80], nil }},
		{"hinge for square", square, ofHinge[0], func(s *solver.State) {
			s.D = make([]float64, 200)
			s.Cavities, s.G, s.U = make([]float64, 600), s.D, s.D
		}},
		{"path without Newton", interruptible{Problem: path.Problem,
			Settings: solver.Settings{Disable: solver.Newton}}, ofPath[at], func(*solver.State) {}},
		{"short d", square, ofSquare[0], func(s *solver.State) { s.D = s.D[1:] }},
		{"negative d", square, ofSquare[0], func(s *solver.State) { s.D[3] = -1 }},
		{"d not a number", square, ofSquare[0], func(s *solver.State) { s.D[3] = math.NaN() }},
		{"long next", square, ofSquare[0], func(s *solver.State) { s.Next = append(s.Next, 1) }},
		{"step", square, ofSquare[0], func(s *solver.State) { s.Monitor.StepLength = 0 }},
		{"residual", square, ofSquare[0], func(s *solver.State) { s.Residual = math.Inf(1) }},
		{"no sweeps", square, ofSquare[0], func(s *solver.State) { s.Stats.Sweeps = 0 }},
		{"cavities", hinge, ofHinge[0], func(s *solver.State) { s.Cavities[0] = math.Inf(1) }},
		{"gamma", hinge, ofHinge[0], func(s *solver.State) { s.G = nil }},
		{"scatter", hinge, ofHinge[0], func(s *solver.State) { s.U[0] = -1 }},
		{"stage", hinge, ofHinge[0], func(s *solver.State) { s.Search.Phase = 9 }},
		{"stage without path", hinge, ofHinge[0], func(s *solver.State) { s.Search.Phase = solver.OnPath }},
		{"distance", hinge, ofHinge[0], func(s *solver.State) { s.Distance = math.NaN() }},
		{"history", hinge, ofHinge[0], func(s *solver.State) { s.Search.History = make([]float64, 7) }},
		{"way home", path, ofPath[at], func(s *solver.State) { s.Search.Continuation.Origin.G = nil }},
		{"way behind", path, ofPath[at], func(s *solver.State) { s.Search.Continuation.Previous = nil }},
		{"way to nowhere", path, ofPath[at], func(s *solver.State) { s.Search.Continuation.To = 0 }},
	}
	for _, test := range tests {
		var state solver.State
		text, err := json.Marshal(test.state)
		if err := errors.Join(err, json.Unmarshal(text, &state)); err != nil {
			t.Fatal(err)
		}
		test.spoil(&state)
		settings := test.cell.Settings
		settings.Resume = &state
		_, err = solver.Solve(context.Background(), test.cell.Problem, settings)
		if !errors.Is(err, solver.ErrProblem) || !strings.Contains(err.Error(), "state to resume from") {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}
