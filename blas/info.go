package blas

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// Info says what does the arithmetic.
type Info struct {
	Backend string `json:"backend"`          // "openblas" or "gonum"
	Core    string `json:"core"`             // kernels that OpenBLAS chose, or "pure Go"
	Config  string `json:"config,omitempty"` // OpenBLAS's build configuration
	Threads int    `json:"threads"`          // threads that one BLAS call may use
	CPU     string `json:"cpu"`              // processor's brand name
	Cores   int    `json:"cores"`            // processors that this process may use
	SIMD    string `json:"simd"`             // widest vector unit of the processor
	// Warnings name what keeps the backend below what the processor can do.
	Warnings []string `json:"warnings,omitempty"`
}

// Describe reports the bound backend and the processor.
func Describe() Info {
	info := Info{CPU: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.NumCPU(), SIMD: simdLevel()}
	bound.describe(&info)
	if w := unusedAVX512(info, cpuid.CPU.Supports(cpuid.AVX512F), os.Getenv("OPENBLAS_CORETYPE")); w != "" {
		info.Warnings = append(info.Warnings, w)
	}
	return info
}

func simdLevel() string {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F):
		return "AVX-512"
	case c.Supports(cpuid.AVX2, cpuid.FMA3):
		return "AVX2+FMA"
	case c.Supports(cpuid.AVX):
		return "AVX"
	case c.Supports(cpuid.SSE2):
		return "SSE2"
	case c.Supports(cpuid.ASIMD):
		return "NEON"
	}
	return "none"
}

// avx512Cores are OpenBLAS's kernel sets that use AVX-512.
var avx512Cores = map[string]bool{"skylakex": true, "cooperlake": true, "sapphirerapids": true}

// unusedAVX512 is a warning when the processor has AVX-512 and OpenBLAS's
// chosen kernels do not use it. What the user set is reported, never changed.
func unusedAVX512(info Info, hasAVX512 bool, coretype string) string {
	if info.Backend != "openblas" || !hasAVX512 || avx512Cores[strings.ToLower(info.Core)] {
		return ""
	}
	why := "OpenBLAS chose them by itself"
	if coretype != "" {
		why = fmt.Sprintf("OPENBLAS_CORETYPE=%s is set", coretype)
	}
	return fmt.Sprintf("this processor has AVX-512, the %s kernels of OpenBLAS do not use it (%s)", info.Core,
		why)
}
