package linalg

import (
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
)

// TestNewSym: gonum's functions see the matrix that was copied, with the scratch triangle in use too.
func TestNewSym(t *testing.T) {
	for _, n := range []int{1, 2, 9} {
		want := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				want.SetSym(i, j, float64(10*i+j+1))
			}
		}
		s := NewSym(want)
		for i, t := 0, s.Scratch(); i < n; i++ {
			for j := range i + 1 {
				t.Data[i*t.Stride+j] = math.NaN()
			}
		}
		if !mat.Equal(s, want) || !mat.Equal(s.T(), want.T()) {
			t.Errorf("%v became %v", mat.Formatted(want), mat.Formatted(s))
		}
	}
	if s := NewSym(&mat.SymDense{}); s.N() != 0 {
		t.Errorf("an empty matrix has order %d", s.N())
	}
}

// TestSymFromDense: pairs that differ by less than the tolerance, relative to the largest element, become
// their mean; a larger difference, an entry that is not finite and a wrong length are refused with the place.
func TestSymFromDense(t *testing.T) {
	a := []float64{2, 1, -8, 1.5, 3, 0.25, -8, 0, 4}
	s := testutil.Must(SymFromDense(3, a, 1.0/16))(t)
	for i := range 3 {
		for j := range 3 {
			if want := (a[3*i+j] + a[3*j+i]) / 2; s.At(i, j) != want {
				t.Errorf("(%d, %d) = %v, want %v", i, j, s.At(i, j), want)
			}
		}
	}
	for says, a := range map[string][]float64{
		"(1, 2) = 1 and (2, 1) = 1.5 differ": {7.9, 1, 1.5, 3}, "(2, 1) is NaN": {1, 0, math.NaN(), 1},
		"(1, 2) is -Inf": {1, math.Inf(-1), 0, 1}, "a matrix of 3 numbers is not 2 x 2": {1, 0, 1},
	} {
		if _, err := SymFromDense(2, a, 1.0/16); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected %q", err, says)
		}
	}
}

func TestCheckMemory(t *testing.T) {
	if err := CheckMemory(100, 200, "a test"); err != nil {
		t.Error(err)
	}
	err := CheckMemory(3<<30, 1<<30, "a kernel matrix of order 20000")
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "order 20000 needs 3 GiB, 1 GiB") {
		t.Errorf("error %v", err)
	}
	if err := CheckMemory(1<<60, 0, "an exbibyte"); err == nil {
		t.Error("an exbibyte is said to fit")
	}
}

func TestAvailableMemory(t *testing.T) {
	meminfo := "MemTotal: 900 kB\nMemAvailable:    800 kB\n"
	cases := map[string]struct {
		files map[string]string
		want  int64
		known bool
	}{
		"nothing known": {nil, 0, false},
		"system only":   {map[string]string{"/proc/meminfo": meminfo}, 800 << 10, true},
		"tight group": {map[string]string{"/proc/meminfo": meminfo,
			"/sys/fs/cgroup/memory.max": "4096\n", "/sys/fs/cgroup/memory.current": "96\n"}, 4000, true},
		"group without limit": {map[string]string{"/proc/meminfo": meminfo,
			"/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/memory.current": "96\n"}, 800 << 10, true},
		"own group of version 2": {map[string]string{"/proc/meminfo": meminfo,
			"/proc/self/cgroup":                  "0::/job/step\n",
			"/sys/fs/cgroup/job/step/memory.max": "max\n", "/sys/fs/cgroup/job/step/memory.current": "96\n",
			"/sys/fs/cgroup/job/memory.max": "4096\n", "/sys/fs/cgroup/job/memory.current": "196\n",
			"/sys/fs/cgroup/job/memory.stat": "anon 3\ninactive_file 100\n"}, 4000, true},
		"own group of version 1": {map[string]string{"/proc/meminfo": meminfo,
			"/proc/self/cgroup": "9:cpu:/\n4:memory:/job\n0::/\n",
			"/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "5000",
			"/sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000"}, 4000, true},
		"address space": {map[string]string{"/proc/meminfo": meminfo,
			"/proc/self/limits": "Limit  Soft Limit Hard Limit Units\nMax address space         " +
				strconv.Itoa(204800+addressReserve) + "               unlimited            bytes\n",
			"/proc/self/status": "Name: x\nVmSize:\t     100 kB\n"}, 204800 - 100<<10, true},
		"address space without limit": {map[string]string{"/proc/meminfo": meminfo,
			"/proc/self/limits": "Max address space         unlimited            unlimited   bytes\n",
			"/proc/self/status": "VmSize:\t     100 kB\n"}, 800 << 10, true},
		"exhausted old group": {map[string]string{
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "10",
			"/sys/fs/cgroup/memory/memory.usage_in_bytes": "20"},
			0, true},
	}
	for name, c := range cases {
		got, known := systemFiles(func(path string) ([]byte, error) {
			if text, ok := c.files[path]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		}).available()
		if got != c.want || known != c.known {
			t.Errorf("%s: %d, %v, want %d, %v", name, got, known, c.want, c.known)
		}
	}
}

func TestSitesCheck(t *testing.T) {
	for _, c := range []struct {
		s    Sites
		n, m int
		says string
	}{
		{nil, 3, 3, ""},
		{nil, 2, 3, "2 targets do not fit 3 sites"},
		{Sites{0, 1, 0}, 3, 2, ""},
		{Sites{0, 1}, 3, 2, "has length 2, but there are 3 targets"},
		{Sites{0, 2, 0}, 3, 2, "example 2 is on site 3 of 2"},
		{Sites{0, 0, -1}, 3, 2, "example 3 is on site 0 of 2"},
		{Sites{}, 0, 0, ""},
	} {
		err := c.s.Check(c.n, c.m)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v of %d on %d: %v, want %q", c.s, c.n, c.m, err, c.says)
		}
	}
}

// TestMerge: a site has the number of its copies, and their mean target; without
// copies both are 0. Small integers make it exact.
func TestMerge(t *testing.T) {
	s := Sites{2, 0, 2, 1}
	y := []float64{1, 5, 4, 7}
	count, mean := []float64{9, 9, 9}, []float64{9, 9, 9} // previous contents do not matter
	s.Merge(y, nil, count, mean)
	if !slices.Equal(count, []float64{1, 1, 2}) || !slices.Equal(mean, []float64{5, 7, 2.5}) {
		t.Errorf("once each: %v, %v", count, mean)
	}
	s.Merge(y, []float64{2, 3, 1, 0}, count, mean)
	if !slices.Equal(count, []float64{3, 0, 3}) || !slices.Equal(mean, []float64{5, 0, 2}) {
		t.Errorf("with copies: %v, %v", count, mean)
	}
}
