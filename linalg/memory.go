package linalg

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"sort"
	"strings"

	"bootbench/blas"
)

// ErrMemory marks work that would not fit into memory. It is found by
// arithmetic, before anything large is allocated.
var ErrMemory = errors.New("not enough memory")

// neverAsked is what a program may take without a look at what the system has left, which takes 0.3 ms.
const neverAsked = 8 << 20

// CheckMemory refuses, with an error that wraps ErrMemory and names the figures, work that needs more bytes
// than there are: limit where it is positive, otherwise what the system and its control group have left.
// Where that cannot be known everything is allowed, and so is a need below neverAsked.
func CheckMemory(need, limit int64, what string) error {
	room := limit
	if room <= 0 {
		if need <= neverAsked {
			return nil
		}
		var known bool
		if room, known = AvailableMemory(); !known {
			return nil
		}
	}
	if need <= room {
		return nil
	}
	return fmt.Errorf("%w: %s needs %s, %s are available", ErrMemory, what, formatBytes(need), formatBytes(room))
}

// DenseBytes is the memory of a kernel matrix of order n that is held whole and of an engine on it, with a
// bias or without, that moves so many sites at a time.
func DenseBytes(n, moved int) int64 {
	vectors := 28 + int64(moved) // over the sites: of the engine, a bias, an update
	small := int64(blas.SmallWork(n))
	return SymBytes(n) + 8*(vectors*int64(n)+int64(moved)*int64(moved)+small)
}

// LowRankBytes is the memory in bytes that a factor of N sites takes while it is made or while an engine
// works on it, whichever is more.
func LowRankBytes(n, rank int) int64 {
	sites, r := int64(n), int64(rank)
	height := int64(panelRows(n))
	lanes, width := int64(laneCount(n)), int64(siteBlock(n, rank))
	held := sites*((r+height-1)/height*height) + r*r
	making := (min(height, sites) + 4) * sites
	engine := 10*sites + (3+lanes)*r*r + lanes*(2*r+1)*width
	if 8*n*rank <= keptBytes {
		engine += sites * r
	}
	return 8 * (held + max(making, engine+min(heavySites, sites)*(2*r+width)))
}

// RankThatFits is the largest rank whose LowRankBytes fit into the given memory.
func RankThatFits(n int, bytes int64) int {
	return sort.Search(n, func(r int) bool { return LowRankBytes(n, r+1) > bytes })
}

// formatBytes writes a number of bytes with a binary unit.
func formatBytes(b int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, k := float64(b), 0
	for v >= 1024 && k < len(units)-1 {
		v /= 1024
		k++
	}
	if scale := math.Pow(10, 2-math.Floor(math.Log10(math.Max(v, 1)))); v < 1000 {
		v = math.Ceil(v*scale-1e-9) / scale // three digits, so that what is named suffices
	}
	return fmt.Sprintf("%.4g %s", v, units[k])
}

// AvailableMemory is the memory in bytes that this process may still take, where that can be known (Linux).
func AvailableMemory() (bytes int64, known bool) { return systemFiles(os.ReadFile).available() }

// systemFiles reads the files in which the system describes itself.
type systemFiles func(path string) ([]byte, error)

// number is the first one after a prefix of a line; "max" and "unlimited" are none.
func (read systemFiles) number(path, prefix string) (int64, bool) {
	text, err := read(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			var n int64
			_, err := fmt.Sscan(rest, &n)
			return n, err == nil
		}
	}
	return 0, false
}

// addressReserve is the address space, hardly any of it memory, that a run on two threads still
// comes to take for itself when its limits are first looked at: 500 MiB were seen for threads' stacks and
// arenas of the C library and OpenBLAS's buffers. Where it is missing OpenBLAS waits for ever.
const addressReserve = 768 << 20

// available is the least of the system's available memory, what control groups leave and what the limit of
// address space (RLIMIT_AS) leaves.
func (read systemFiles) available() (bytes int64, known bool) {
	bytes, known = read.number("/proc/meminfo", "MemAvailable:")
	bytes <<= 10
	rooms := read.groupRooms()
	limit, bounded := read.number("/proc/self/limits", "Max address space")
	if used, ok := read.number("/proc/self/status", "VmSize:"); ok && bounded {
		rooms = append(rooms, limit-used<<10-addressReserve)
	}
	for _, room := range rooms {
		if !known || room < bytes {
			bytes, known = max(0, room), true
		}
	}
	return bytes, known
}

// groupRooms is what the control groups of this process that have a limit leave: its own and all above it, of
// version 2 and 1, whose paths are in /proc/self/cgroup. In a container the own one may be the root of what
// can be seen. Inactive pages of files can be had back and do not count as used.
func (read systemFiles) groupRooms() (rooms []int64) {
	own := map[string]string{}
	text, _ := read("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			for _, controller := range strings.Split(parts[1], ",") {
				own[controller] = parts[2]
			}
		}
	}
	for _, group := range []struct{ mount, controller, limit, used, inactive string }{
		{"", "", "memory.max", "memory.current", "inactive_file"},
		{"memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	} {
		for dir := path.Clean("/" + own[group.controller]); ; dir = path.Dir(dir) {
			most, bounded := read.number(path.Join("/sys/fs/cgroup", group.mount, dir, group.limit), "")
			taken, ok := read.number(path.Join("/sys/fs/cgroup", group.mount, dir, group.used), "")
			if bounded && ok {
				cached, _ := read.number(path.Join("/sys/fs/cgroup", group.mount, dir, "memory.stat"), group.inactive)
				rooms = append(rooms, most-max(0, taken-cached))
			}
			if dir == "/" {
				break
			}
		}
	}
	return rooms
}
