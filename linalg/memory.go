package linalg

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrMemory marks work that would not fit into memory. It is found by
// arithmetic, before anything large is allocated.
var ErrMemory = errors.New("not enough memory")

// CheckMemory refuses, with an error that wraps ErrMemory and names the
// figures, work that needs more bytes than there are: limit where it is
// positive, otherwise what the system and its control group have left. Where
// that cannot be known everything is allowed.
func CheckMemory(need, limit int64, what string) error {
	room := limit
	if room <= 0 {
		var known bool
		if room, known = AvailableMemory(); !known {
			return nil
		}
	}
	if need <= room {
		return nil
	}
	return fmt.Errorf("%w: %s needs %s, %s are available", ErrMemory, what, FormatBytes(need), FormatBytes(room))
}

// FormatBytes writes a number of bytes with a binary unit.
func FormatBytes(b int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, k := float64(b), 0
	for v >= 1024 && k < len(units)-1 {
		v /= 1024
		k++
	}
	return fmt.Sprintf("%.3g %s", v, units[k])
}

// AvailableMemory is the memory in bytes that this process may still take, where
// that can be known (Linux).
func AvailableMemory() (bytes int64, known bool) { return availableMemory(os.ReadFile) }

// availableMemory is what this process may still take: the smaller of the
// system's available memory and what its control group leaves.
func availableMemory(read func(string) ([]byte, error)) (bytes int64, known bool) {
	bytes, known = memAvailable(read)
	for _, group := range []struct{ limit, used string }{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limit, okLimit := readNumber(read, group.limit)
		used, okUsed := readNumber(read, group.used)
		if okLimit && okUsed && (!known || limit-used < bytes) {
			bytes, known = max(0, limit-used), true
		}
	}
	return bytes, known
}

// memAvailable reads the line MemAvailable of /proc/meminfo, in KiB.
func memAvailable(read func(string) ([]byte, error)) (int64, bool) {
	text, err := read("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemAvailable:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

func readNumber(read func(string) ([]byte, error), path string) (int64, bool) {
	text, err := read(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil // "max" means that there is no limit
}
