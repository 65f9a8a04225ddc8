//go:build mpi && openblas

package linalg_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"bootbench/blas"
	"bootbench/blas/scalapack"
	"bootbench/linalg"
	"bootbench/linalg/dist"
)

var (
	ranks  int
	square dist.Grid // of all ranks
)

// Under mpirun the suite of conformance_test.go runs on real ranks:
// scripts/mpi-test.sh. Every rank runs every test.
func TestMain(m *testing.M) {
	world, err := scalapack.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ranks = world.Size()
	flag.Parse()
	if world.Rank() > 0 && flag.Lookup("test.bench").Value.String() != "" {
		os.Stdout = nil // one table is enough
	}
	blas.Bound().SetThreads(world.Threads())
	clear(linalg.Engines)
	shapes := [][2]int{{0, 0}, {1, world.Size()}, {world.Size(), 1}}
	for _, shape := range shapes {
		grid, err := world.NewGrid(shape[0], shape[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if square == nil {
			square = grid
		}
		rows, cols := grid.Shape()
		for _, block := range []int{1, 7, 64, 128} {
			linalg.Engines[fmt.Sprintf("scalapack/grid=%dx%d/block=%d", rows, cols, block)] =
				func(k *linalg.Sym) linalg.Engine {
					spread, err := dist.NewBlockCyclic(grid, symBlocks{k}, block, 0, 1<<40)
					if err != nil {
						panic(err)
					}
					return spread.Engine()
				}
		}
	}
	status := m.Run()
	if status != 0 {
		world.Abort(status)
	}
	world.End()
	os.Exit(0)
}

// BenchmarkRanks times a refresh, and all of G after it, on the ranks that there
// are, and on the exact engine where there is one: scripts/mpi-bench.sh. Give a
// fixed number of rounds (-test.benchtime 1x), which is the same on all ranks.
// BOOTBENCH_ORDER is the order of the matrix, 6000 if not set.
func BenchmarkRanks(b *testing.B) {
	n := 6000
	if text := os.Getenv("BOOTBENCH_ORDER"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	k, d := linalg.GaussianGram(n, false, linalg.Seeded(1)), linalg.DrawSites(n, linalg.SiteRegimes["even"],
		linalg.Seeded(2))
	builds := map[string]func(k *linalg.Sym) linalg.Engine{}
	for name, build := range linalg.Engines {
		if strings.HasSuffix(name, "block=64") || strings.HasSuffix(name, "block=128") {
			builds[name] = build
		}
	}
	if ranks == 1 {
		builds["exact"] = func(k *linalg.Sym) linalg.Engine { return linalg.NewCholeskyEngine(k) }
	}
	for _, name := range slices.Sorted(maps.Keys(builds)) {
		e := builds[name](k)
		for _, what := range []string{"diag", "full"} {
			call, flops := linalg.Refreshes(b, e, d)[what], math.Pow(float64(n), 3)
			if what == "diag" {
				flops *= 2. / 3
			}
			b.Run(fmt.Sprintf("what=%s/ranks=%d/threads=%d/engine=%s/n=%d", what, ranks, blas.Bound().Threads(), name,
				n), func(b *testing.B) {
				for range b.N {
					call()
				}
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// A factor over real ranks is that of one process, see TestTeamEqualsOneProcess.
func TestDistributedTeamEqualsOneProcess(t *testing.T) {
	const n = 150
	k, d := linalg.GaussianGram(n, false, linalg.Seeded(4)), linalg.DrawSites(n, linalg.SiteRegimes["even"],
		linalg.Seeded(5))
	want := lowRankAnswers(t, k, linalg.RankOptions{Tol: 1e-8}, d)
	got := lowRankAnswers(t, k, linalg.RankOptions{Tol: 1e-8, Team: dist.NewTeam(square)}, d)
	for what, want := range want {
		compareVectors(t, what, want, got[what], teamAccuracy(what, 1e-9))
	}
}
