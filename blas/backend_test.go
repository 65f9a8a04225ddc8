package blas

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/cpuid/v2"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestBindInstallsBackend(t *testing.T) {
	before := Bound().Name()
	defer func() {
		if err := Bind(before); err != nil {
			t.Fatal(err)
		}
	}()
	for _, name := range Names() {
		if err := Bind(name); err != nil {
			t.Fatal(err)
		}
		if Bound().Name() != name || blas64.Implementation() != Bound() {
			t.Errorf("%s is not what blas64 uses", name)
		}
		if info := Describe(); info.Backend != name || info.Threads < 1 || info.Core == "" {
			t.Errorf("described as %+v", info)
		}
	}
	if err := Bind("mkl"); err == nil || !strings.Contains(err.Error(), "gonum") {
		t.Errorf("error %v does not list what there is", err)
	}
}

// TestBetterCore: kernels without vectors are replaced on a processor that has them, and no others.
func TestBetterCore(t *testing.T) {
	for _, c := range []struct {
		took         string
		avx2, avx512 bool
		want         string
	}{
		{"Prescott", true, true, "SkylakeX"}, {"Prescott", true, false, "Haswell"},
		{"Prescott", false, false, ""}, {"Zen", true, true, ""}, {"Cooperlake", true, true, ""},
		{"armv8", false, false, ""}, {"Sandybridge", true, false, "Haswell"},
	} {
		if got := betterCore(c.took, c.avx2, c.avx512); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	info := Describe()
	hasAVX2 := cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3)
	if _, set := os.LookupEnv("OPENBLAS_CORETYPE"); !set && info.Backend == OpenBLAS &&
		betterCore(info.Core, hasAVX2, false) != "" {
		t.Errorf("%s kernels for a processor with %s", info.Core, info.SIMD)
	}
}

func TestUnusedAVX512(t *testing.T) {
	haswell := Info{Backend: "openblas", Core: "Haswell"}
	for _, c := range []struct {
		info           Info
		has            bool
		coretype, says string // "": no warning
	}{
		{haswell, true, "Haswell", "OPENBLAS_CORETYPE=Haswell"}, {haswell, true, "", "by itself"},
		{haswell, false, "", ""}, {Info{Backend: "openblas", Core: "SkylakeX"}, true, "", ""},
		{Info{Backend: "gonum", Core: "pure Go"}, true, "", ""},
	} {
		got := unusedAVX512(c.info, c.has, c.coretype)
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%+v: warning %q", c, got)
		}
	}
}

// BenchmarkKernel times the kernels of a refresh, in GFLOP/s of the best call, and of-dgemm as a share of the
// best rate of dgemm of the same order, one before each call:
//
//	gemm   a product                       2n^3
//	potrf  L L' = A                        n^3/3
//	trtri  L^-1                            n^3/3
//	lauum  L' L                            n^3/3
func BenchmarkKernel(b *testing.B) {
	bound := Bound()
	for _, n := range []int{250, 500, 1000, 2000} {
		a, out := smoothKernel(n, 1), make([]float64, n*n)
		factor := slices.Clone(a)
		bound.Potrf(blas.Lower, n, factor, n)
		gemm := func() {
			bound.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, a, n, 0, out, n)
		}
		for _, kernel := range []struct {
			name  string
			from  []float64
			flops float64 // over n^3
			call  func()
		}{
			{"gemm", a, 2, gemm},
			{"potrf", a, 1. / 3, func() { bound.Potrf(blas.Lower, n, out, n) }},
			{"trtri", factor, 1. / 3, func() { bound.Trtri(blas.Lower, n, out, n) }},
			{"lauum", factor, 1. / 3, func() { bound.Lauum(blas.Lower, n, out, n) }},
		} {
			b.Run(fmt.Sprintf("kernel=%s/backend=%s/n=%d", kernel.name, bound.Name(), n), func(b *testing.B) {
				least, product := math.Inf(1), math.Inf(1)
				for range b.N {
					b.StopTimer()
					product = min(product, seconds(gemm))
					copy(out, kernel.from)
					b.StartTimer()
					least = min(least, seconds(kernel.call))
				}
				cube := math.Pow(float64(n), 3)
				b.ReportMetric(kernel.flops*cube/least/1e9, "GFLOP/s")
				b.ReportMetric(kernel.flops/2*product/least, "of-dgemm")
			})
		}
	}
}

func seconds(call func()) float64 {
	began := time.Now()
	call()
	return time.Since(began).Seconds()
}
