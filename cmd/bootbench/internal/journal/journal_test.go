package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/testutil"
)

var head = Head{Version: "1.0", Command: "retrain", Data: []string{"d.csv"}, Digests: []string{"abc"},
	Settings: []string{"resamples=30"}, Folder: "/somewhere", Shards: 1}

// result is what task number i has, with bytes of all kinds.
func result(i int) []byte { return append(bytes.Repeat([]byte{byte(i), '\n', 0, 255}, i), "end"...) }

func key(i int) string { return fmt.Sprintf("task-%d", i) }

const count = 3

// finish opens a journal, does what it lacks of the tasks, and returns what it lacked.
func finish(t *testing.T, folder string) (lacked []int) {
	t.Helper()
	j, err := Open(folder, head, 0, func(...string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i := range count {
		var found []byte
		switch {
		case !j.Lookup(key(i), &found):
			lacked = append(lacked, i)
			j.Append(key(i), result(i))
		case !bytes.Equal(found, result(i)):
			t.Fatalf("task %d has %q", i, found)
		}
	}
	return lacked
}

// whole is the content of a journal of all tasks.
func whole(t *testing.T) []byte {
	t.Helper()
	folder := t.TempDir()
	if lacked := finish(t, folder); len(lacked) != count {
		t.Fatal(lacked)
	}
	if lacked := finish(t, folder); lacked != nil {
		t.Fatal(lacked)
	}
	return testutil.Must(os.ReadFile(filepath.Join(folder, "journal")))(t)
}

// restart writes content instead of a journal, which is then gone on with twice.
func restart(t *testing.T, content []byte) (lacked []int) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "journal"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	lacked = finish(t, folder)
	if again := finish(t, folder); again != nil {
		t.Fatalf("what was done again is not kept: %v", again)
	}
	return lacked
}

// TestKilledAtAnyByte: a journal whose writer was killed has every task whose line it had
// ended, and goes on from there.
func TestKilledAtAnyByte(t *testing.T) {
	content := whole(t)
	for length := range len(content) {
		done := max(0, bytes.Count(content[:length], []byte("\n"))-2) // after the first line and the head
		if lacked := restart(t, content[:length]); len(lacked) != count-done {
			t.Errorf("cut after %d bytes of %d it lacks %v", length, len(content), lacked)
		}
	}
}

// TestBitFlips: in whichever byte a bit flips, two tasks at most are done again, and none has another result.
func TestBitFlips(t *testing.T) {
	content := whole(t)
	for at := range content {
		flipped := bytes.Clone(content)
		flipped[at] ^= 1 << (at % 8)
		if lacked := restart(t, flipped); len(lacked) > 2 {
			t.Errorf("bit %d of byte %d: it lacks %v", at%8, at, lacked)
		}
	}
}

// TestNoRoomForHalf: a line that was written in half is cut off again.
func TestNoRoomForHalf(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(1, &before); err != nil { // RLIMIT_FSIZE
		t.Skip(err)
	}
	folder := t.TempDir()
	j := testutil.Must(Open(folder, head, 0, func(...string) {}))(t)
	j.Append(key(0), result(0))
	limit := before
	limit.Cur = uint64(j.size + 10)
	ignoreFileSize(t)
	if err := syscall.Setrlimit(1, &limit); err != nil {
		t.Skip(err)
	}
	j.Append(key(1), result(1))
	if err := syscall.Setrlimit(1, &before); err != nil {
		t.Fatal(err)
	}
	j.Append(key(2), result(2))
	j.Close()
	if lacked := finish(t, folder); j.Lost != 1 || !reflect.DeepEqual(lacked, []int{1}) {
		t.Errorf("lost %d, it lacks %v", j.Lost, lacked)
	}
}

// TestRefused: what is not a journal of the same is refused by name and left as it is.
func TestRefused(t *testing.T) {
	content := string(whole(t))
	other := func(change func(*Head)) string {
		folder, h := t.TempDir(), head
		change(&h)
		testutil.Must(Open(folder, h, 0, nil))(t).Close()
		return string(testutil.Must(os.ReadFile(filepath.Join(folder, "journal")))(t))
	}
	for says, text := range map[string]string{
		"is no journal of bootbench": "my diary\n",
		"is a journal of format 3":   "bootbench journal 3\nrecords of another kind\n",
		"of another command line: bootbench retrain d.csv --resamples=40": other(func(h *Head) {
			h.Settings = []string{"resamples=40"}
		}),
		"version 0.9": other(func(h *Head) { h.Version = "0.9" }),
		"d.csv is not what it was when the journal was " +
			"begun": other(func(h *Head) { h.Digests = []string{"abd"} }),
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, "journal")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder, head, 0, nil); err == nil || !usage.Is(err) ||
			!strings.Contains(err.Error(),
				says) {
			t.Errorf("%s: %v", says, err)
		}
		if now := testutil.Must(os.ReadFile(path))(t); string(now) != text {
			t.Errorf("%s: it now holds %q", says, now)
		}
	}
	if _, err := Read([]string{t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(),
		"holds no journal") {
		t.Error(err)
	}
	later := strings.Replace(content, `"format":2`, `"format":7`, 1)
	if lacked := restart(t, []byte(later)); lacked != nil { // its checksum says that this is damage
		t.Errorf("it lacks %v", lacked)
	}
}

// TestLinks: a link, a folder or a pipe instead of a journal is refused at once.
func TestLinks(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	for says, make := range map[string]func(path string) error{
		"link to a file": func(path string) error {
			return errors.Join(os.WriteFile(victim, nil, 0o644), os.Symlink(victim, path))
		},
		"link to nowhere":    func(path string) error { return os.Symlink(victim+"2", path) },
		"a folder":           func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe without end": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		for _, name := range []string{"journal", "journal-1-of-2"} {
			folder := t.TempDir()
			if err := make(filepath.Join(folder, name)); err != nil {
				os.Remove(victim)
				if err := make(filepath.Join(folder, name)); err != nil {
					t.Skip(err)
				}
			}
			if _, err := Open(folder, head, 0, nil); err == nil || !strings.Contains(err.Error(),
				"links are not followed") {
				t.Errorf("%s: %v", says, err)
			}
			os.Remove(victim)
		}
	}
	if _, err := os.Stat(victim + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made through a link")
	}
}

// TestTwoWriters: one process at a time writes the file of a shard; other shards write
// theirs, and all see what the others had finished.
func TestTwoWriters(t *testing.T) {
	folder := t.TempDir()
	first := testutil.Must(Open(folder, head, 0, nil))(t)
	if _, err := Open(folder, head, 0, nil); err == nil || !strings.Contains(err.Error(),
		"is in use by another run") {
		t.Error(err)
	}
	first.Append(key(0), result(0))
	sharded := head
	sharded.Shards = 2
	for shard := range 2 {
		j := testutil.Must(Open(folder, sharded, shard, nil))(t)
		if !j.Has(key(0)) || shard == 1 && !j.Has(key(1)) {
			t.Errorf("shard %d does not see what was finished", shard)
		}
		j.Append(key(1+shard), result(1+shard))
		j.Close()
	}
	first.Close()
	testutil.Must(Open(folder, head, 0, nil))(t).Close()
	all := testutil.Must(Read([]string{folder, folder}, nil))(t)
	defer all.Close()
	for i := range count {
		var found []byte
		if !all.Lookup(key(i), &found) || !bytes.Equal(found, result(i)) {
			t.Errorf("task %d has %q", i, found)
		}
	}
	if all.Head.String() != head.String() {
		t.Error(all.Head)
	}
}

// ignoreFileSize has a write beyond the limit fail instead of ending the process.
func ignoreFileSize(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
}

// FuzzJournal: a file with any contents is refused and left as it is, or its whole records are found; what is
// appended then is found when it is opened again, with all that was found before.
func FuzzJournal(f *testing.F) {
	record := func(key, body string) string { return string(line(key, []byte(body))) }
	head, err := json.Marshal(Head{Format: format, Command: "estimate", Shards: 1})
	if err != nil {
		f.Fatal(err)
	}
	whole := firstLine + record(headKey, string(head)) + record("a", "1") + record("b", `{"x":[1,2]}`)
	for _, seed := range []string{"", firstLine, whole, whole[:len(whole)-3],
		firstLine + "\x00\n" + record("c", "null"), "a,b\n1,2\n", record("d", "1"),
		firstLine + record(headKey, "[]")} {
		f.Add([]byte(seed))
	}
	folder := f.TempDir()
	path := filepath.Join(folder, fileName(0, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		head := Head{Command: "estimate", Shards: 1}
		j, err := Open(folder, head, 0, func(...string) {})
		if err != nil {
			if now, _ := os.ReadFile(path); string(now) != string(data) {
				t.Fatalf("refused (%v) and changed", err)
			}
			return
		}
		found := j.Count()
		if !j.Has("fuzz") {
			found++
		}
		j.Append("fuzz", 7)
		j.Close()
		again, err := Open(folder, head, 0, func(...string) {})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		var seven int
		if !again.Lookup("fuzz", &seven) || seven != 7 || again.Count() != found {
			t.Fatalf("%d records, before %d; %d", again.Count(), found, seven)
		}
	})
}
