//go:build mpi && openblas

package scalapack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	gblas "gonum.org/v1/gonum/blas"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

var ranks *world

// Under mpirun every rank runs every test: scripts/mpi-test.sh.
func TestMain(m *testing.M) {
	var err error
	if ranks, err = start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if status == 0 {
		ranks.End()
	}
	os.Exit(status) // a rank that fails ends the others
}

func TestMessages(t *testing.T) {
	rank, size := float64(ranks.Rank()), float64(ranks.size)
	x := []float64{rank, 1, -rank}
	ranks.Reduce(x)
	if sum := size * (size - 1) / 2; ranks.Rank() == 0 && (x[0] != sum || x[1] != size || x[2] != -sum) {
		t.Errorf("sums %v of %v ranks", x, size)
	}
	last := ranks.size - 1
	text := ranks.Broadcast([]byte(fmt.Sprintf("rank %d of many", ranks.Rank())), last)
	if string(text) != fmt.Sprintf("rank %d of many", last) {
		t.Errorf("broadcast %q", text)
	}
	if most := ranks.Most(int64(ranks.Rank())); most != int64(last) {
		t.Errorf("the largest rank is %d", most)
	}
	if ranks.threads < 1 || ranks.PerNode() < 1 || ranks.PerNode() > ranks.size {
		t.Errorf("%d threads, %d ranks on a machine", ranks.threads, ranks.PerNode())
	}
}

// part is this rank's part of a row-major matrix.
func part(g *mpiGrid, n, block int, whole []float64) (a []float64, stride int) {
	rows, cols := g.Shape()
	row, col := g.Rank()/cols, g.Rank()%cols
	var own []int
	for i := range n {
		if i/block%rows == row {
			own = append(own, i)
		}
	}
	stride = max(1, len(own))
	for j := range n {
		if j/block%cols != col {
			continue
		}
		at := len(a)
		a = append(a, make([]float64, stride)...)
		for r, i := range own {
			a[at+r] = whole[i*n+j]
		}
	}
	return append(a, 0)[:max(1, len(a))], stride
}

// Against gonum's LAPACK on the whole matrix, element for element; what is above the diagonal stays. Sizes
// are around the leaf of the halving, and some have fewer blocks than ranks.
func TestFactorisations(t *testing.T) {
	row, column := ranks.grid(1, ranks.size), ranks.grid(ranks.size, 1)
	for _, g := range []*mpiGrid{ranks.grid(ranks.shape()), row, column} {
		for _, block := range []int{1, 5, 16} {
			for _, n := range []int{1, 2, 15, 16, 17, leaf * 16, leaf*16 + 1, 150} {
				checkFactorisations(t, g, n, block)
			}
		}
	}
}

func checkFactorisations(t *testing.T, g *mpiGrid, n, block int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	whole := make([]float64, n*n)
	for i := range n {
		for j := range n {
			whole[i*n+j] = rng.NormFloat64() / float64(n)
		}
		whole[i*n+i] += 3
	}
	a, stride := part(g, n, block, whole)
	check := func(step string) {
		t.Helper()
		want, _ := part(g, n, block, whole)
		for i, v := range want {
			if !(math.Abs(a[i]-v) < 1e-13) {
				t.Fatalf("%s, n = %d, blocks of %d: element %d of rank %d is %v, want %v",
					step, n, block, i, g.Rank(), a[i], v)
			}
		}
	}
	var plain lapackgonum.Implementation
	if minor := g.Potrf(n, block, a, stride); minor != 0 {
		t.Fatalf("minor %d", minor)
	}
	plain.Dpotrf(gblas.Lower, n, whole, n)
	check("potrf")
	if zero := g.Trtri(n, block, a, stride); zero != 0 {
		t.Fatalf("zero %d", zero)
	}
	plain.Dtrtri(gblas.Lower, gblas.NonUnit, n, whole, n)
	check("trtri")
	g.Lauum(n, block, a, stride)
	plain.Dlauum(gblas.Lower, n, whole, n)
	check("lauum")
}

// The number of the bad element reaches all ranks.
func TestFactorisationsFail(t *testing.T) {
	g := ranks.grid(ranks.shape())
	const n, block, bad = 60, 7, 40
	whole := make([]float64, n*n)
	for i := range n {
		whole[i*n+i] = 1
	}
	whole[bad*n+bad] = -1
	a, stride := part(g, n, block, whole)
	if minor := g.Potrf(n, block, a, stride); minor != bad+1 {
		t.Errorf("rank %d: minor %d, want %d", g.Rank(), minor, bad+1)
	}
	whole[bad*n+bad] = 0
	a, stride = part(g, n, block, whole)
	if zero := g.Trtri(n, block, a, stride); zero != bad+1 {
		t.Errorf("rank %d: zero %d, want %d", g.Rank(), zero, bad+1)
	}
}
