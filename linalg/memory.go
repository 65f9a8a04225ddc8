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

// ErrMemory marks work that would not fit into memory, according to a prediction before anything large is
// allocated.
var ErrMemory = errors.New("not enough memory")

// neverAsked is the number of bytes that is always allowed: reading the free memory takes 0.3 ms.
const neverAsked = 8 << 20

// CheckMemory returns an error that wraps ErrMemory and has the figures if need exceeds limit bytes, or, if
// limit is 0, the free memory of the system and its control group. If that is unknown, or need is below
// neverAsked, it is nil.
func CheckMemory(need, limit int64, what string) error {
	if limit <= 0 && need <= neverAsked {
		return nil
	}
	room := Room(limit)
	if need <= room {
		return nil
	}
	return fmt.Errorf("%w: %s needs %s, %s are available",
		ErrMemory, what, FormatBytes(float64(need)), FormatBytes(float64(room)))
}

// Room is the limit if it is positive, otherwise the free memory of the system in bytes, as far as known.
func Room(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	if room, known := AvailableMemory(); known {
		return room
	}
	return math.MaxInt64
}

// DenseBytes is the memory of a dense kernel matrix of order n and an engine on it, with a bias or without,
// whose rank updates change up to moved sites.
func DenseBytes(n, moved int) int64 {
	vectors := 28 + int64(moved) // over the sites: of the engine, a bias, an update
	small := int64(blas.SmallWork(n))
	return SymBytes(n) + 8*(vectors*int64(n)+int64(moved)*int64(moved)+small)
}

// LowRankBytes is the memory in bytes of a factor of N sites during its factorisation or with an engine on
// it, whichever is more.
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

// FormatBytes writes a number of bytes with a binary unit.
func FormatBytes(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	k := 0
	for v >= 1024 && k < len(units)-1 {
		v /= 1024
		k++
	}
	if scale := math.Pow(10, 2-math.Floor(math.Log10(math.Max(v, 1)))); v < 1000 {
		v = math.Ceil(v*scale-1e-9) / scale // three digits, rounded up
	}
	return fmt.Sprintf("%.4g %s", v, units[k])
}

// AvailableMemory is the memory in bytes that this process may still allocate, if known (Linux).
func AvailableMemory() (bytes int64, known bool) { return systemFiles(os.ReadFile).available() }

// systemFiles reads files of /proc and /sys.
type systemFiles func(path string) ([]byte, error)

// number is the first number after a prefix of a line; "max" and "unlimited" are none.
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

// addressReserve is the address space, mostly unused, for threads' stacks and arenas of the C library and
// OpenBLAS's buffers: 500 MiB were measured on two threads. Without it OpenBLAS waits for ever.
const addressReserve = 768 << 20

// available is the least of the system's available memory and the remainders of control groups' limits and of
// RLIMIT_AS.
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

// groupRooms lists the free memory of the control groups of this process with a limit, and of their parents,
// of versions 2 and 1, whose paths are in /proc/self/cgroup. In a container the process's group may be the
// visible root. Inactive file pages count as free.
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
				cached, _ := read.number(path.Join("/sys/fs/cgroup", group.mount, dir, "memory.stat"),
					group.inactive)
				rooms = append(rooms, most-max(0, taken-cached))
			}
			if dir == "/" {
				break
			}
		}
	}
	return rooms
}
