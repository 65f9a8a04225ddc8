package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

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
