package linalg

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
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
func AvailableMemory() (bytes int64, known bool) { return availableMemory(os.ReadFile) }

// availableMemory is what this process may still take: the least of the system's available memory, what its
// control groups leave and what its limit of address space (RLIMIT_AS) leaves.
func availableMemory(read func(string) ([]byte, error)) (bytes int64, known bool) {
	bytes, known = memAvailable(read)
	for _, room := range append(groupRooms(read), addressRoom(read)...) {
		if !known || room < bytes {
			bytes, known = max(0, room), true
		}
	}
	return bytes, known
}

// groupRooms is what the control groups of this process that have a limit leave: its own and all above it, of
// version 2 and 1, whose paths are in /proc/self/cgroup. In a container the own one may be the root of what
// can be seen. Inactive pages of files can be had back and do not count as used.
func groupRooms(read func(string) ([]byte, error)) (rooms []int64) {
	add := func(mount, own, limit, used, inactive string) {
		for dir := path.Clean("/" + own); ; dir = path.Dir(dir) {
			most, bounded := readNumber(read, path.Join(mount, dir, limit))
			taken, ok := readNumber(read, path.Join(mount, dir, used))
			if bounded && ok {
				cached, _ := readField(read, path.Join(mount, dir, "memory.stat"), inactive)
				rooms = append(rooms, most-max(0, taken-cached))
			}
			if dir == "/" {
				return
			}
		}
	}
	unified, memory := "/", "/"
	if text, err := read("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(text)) {
			switch parts := strings.SplitN(strings.TrimSpace(line), ":", 3); {
			case len(parts) < 3:
			case parts[1] == "":
				unified = parts[2]
			case slices.Contains(strings.Split(parts[1], ","), "memory"):
				memory = parts[2]
			}
		}
	}
	add("/sys/fs/cgroup", unified, "memory.max", "memory.current", "inactive_file")
	add("/sys/fs/cgroup/memory", memory, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
	return rooms
}

// addressReserve is the address space, hardly any of it memory, that a run on two threads still
// comes to take for itself when its limits are first looked at: 500 MiB were seen for threads' stacks and
// arenas of the C library and OpenBLAS's buffers. Where it is missing OpenBLAS waits for ever.
const addressReserve = 768 << 20

// addressRoom is what RLIMIT_AS leaves of address space to matrices, if it is set.
func addressRoom(read func(string) ([]byte, error)) []int64 {
	text, err := read("/proc/self/limits")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max address space"); ok {
			fields := append(strings.Fields(rest), "")
			limit, err := strconv.ParseInt(fields[0], 10, 64)
			if used, known := readField(read, "/proc/self/status", "VmSize:"); err == nil && known {
				return []int64{limit - used<<10 - addressReserve}
			}
		}
	}
	return nil
}

// readField is the number after a name that begins a line.
func readField(read func(string) ([]byte, error), path, name string) (int64, bool) {
	text, err := read(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// memAvailable reads the line MemAvailable of /proc/meminfo, in KiB.
func memAvailable(read func(string) ([]byte, error)) (int64, bool) {
	kib, known := readField(read, "/proc/meminfo", "MemAvailable:")
	return kib << 10, known
}

func readNumber(read func(string) ([]byte, error), path string) (int64, bool) {
	text, err := read(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil // "max" means that there is no limit
}
