package linalg

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

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
