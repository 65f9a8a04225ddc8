package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// timeless is a document without what the clock decides.
func timeless(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"time", "memory", "fit_s", "solve_s"} {
				delete(v, name)
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(v)
	return v
}

// TestShards: parts in any order, one of them twice, merge to the answer of one
// process, number by number; with a part missing merge names it.
func TestShards(t *testing.T) {
	for name, args := range map[string][]string{
		"retrain": on("retrain", "--resamples", "250", "--seed", "4"),
		"curve":   on("curve", "--ratio", "0.5,1,2"),
	} {
		dir := filepath.Join(t.TempDir(), "study")
		part := func(shard string) string {
			return must(t, append(args[:len(args):len(args)], "--shard", shard, "--out", dir)...)
		}
		part("2/3")
		if o := drive(t, "", "merge", dir); o.status != exitFailed || strings.Contains(o.stdout, "tasks are done") || !strings.Contains(o.stderr, "2 tasks are missing: ") || !strings.Contains(o.stderr, "friedman1") {
			t.Errorf("%s, parts missing: %+v", name, o)
		}
		part("0/3")
		if text := part("0/3"); !strings.Contains(text, "part 0 of 3") {
			t.Errorf("%s: a part says %q", name, text)
		}
		part("1/3")
		merged := timeless(t, must(t, "merge", dir, "--json", "-"))
		whole := args
		if name == "curve" { // in a piece, solves start from the last one
			whole = append(whole[:len(whole):len(whole)], "--shard", "0/1", "--out", filepath.Join(t.TempDir(), "alone"))
		}
		if alone := timeless(t, must(t, append(whole[:len(whole):len(whole)], "--json", "-")...)); !reflect.DeepEqual(merged, alone) {
			t.Errorf("%s: merged %v\nalone %v", name, merged, alone)
		}
		if o := drive(t, "", append(args[:len(args):len(args)], "--quiet", "--jitter", "0.1", "--shard", "0/3", "--out", dir)...); o.status != exitUsage || !strings.Contains(o.stderr, "another study") {
			t.Errorf("%s: another command into the folder: %+v", name, o)
		}
	}
}

// TestDamagedPart: a part that cannot be read is done again.
func TestDamagedPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	args := on("retrain", "--resamples", "50", "--shard", "0/1", "--out", dir)
	want := must(t, append(args, "--json", "-")...)
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.gob"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	text, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(parts[0], text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if got := must(t, append(args, "--json", "-")...); !reflect.DeepEqual(timeless(t, got), timeless(t, want)) {
		t.Error("the answer has changed")
	}
}

// TestShardOf reads parts from the flag and from schedulers.
func TestShardOf(t *testing.T) {
	for _, c := range []struct {
		text        string
		shards      int
		environment map[string]string
		index       int
		count       int // 0: refused
	}{
		{"0/1", 0, nil, 0, 1},
		{"4/5", 0, nil, 4, 5},
		{"5/5", 0, nil, 0, 0},
		{"-1/5", 0, nil, 0, 0},
		{"1", 0, nil, 0, 0},
		{"a/b", 0, nil, 0, 0},
		{"1/2", 2, nil, 0, 0},
		{"auto", 0, nil, 0, 0},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, 3, 4},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "4"}, 3, 4},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "4"}, 0, 0},
		// With the number of parts given, some of them in an array of their own.
		{"auto", 16, map[string]string{"SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "2"}, 11, 16},
		{"auto", 16, map[string]string{"SLURM_ARRAY_TASK_ID": "16", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "16"}, 0, 0},
		{"auto", 0, map[string]string{"JOB_COMPLETION_INDEX": "2"}, 0, 0},
		{"auto", 8, map[string]string{"JOB_COMPLETION_INDEX": "2"}, 2, 8},
		{"auto", 0, map[string]string{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2},
		{"auto", 0, map[string]string{"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "2"}, 0, 0},
	} {
		index, count, err := shardOf(c.text, c.shards, func(name string) (string, bool) {
			v, ok := c.environment[name]
			return v, ok
		})
		if index != c.index || count != c.count || (err == nil) != (c.count > 0) {
			t.Errorf("%+v: %d of %d, %v", c, index, count, err)
		}
	}
}

// TestWithoutFlags drops flags with their values, in both forms.
func TestWithoutFlags(t *testing.T) {
	got := withoutFlags([]string{"curve", "x.csv", "--out", "d", "--ratio", "1,2", "--quiet", "--json=-", "--shard=0/2", "--tol", "1e-3"}, "out", "quiet", "json", "shard")
	if want := []string{"curve", "x.csv", "--ratio", "1,2", "--tol", "1e-3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStudyFolders: merge runs from another folder than the parts, whose DATA has
// a relative path; data that have changed since are refused, by parts and by merge.
func TestStudyFolders(t *testing.T) {
	home, away := t.TempDir(), t.TempDir()
	lines := func(last string) {
		t.Helper()
		text := "x,y\n1,2\n2,3\n3,5\n4,4\n5," + last + "\n"
		if err := os.WriteFile(filepath.Join(home, "d.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines("7")
	t.Chdir(home)
	args := []string{"retrain", "d.csv", "--loss", "square", "--noise", "1", "--resamples", "150", "--quiet"}
	alone := timeless(t, must(t, append(args, "--json", "-")...))
	must(t, append(args, "--shard", "0/2", "--out", "study")...)
	t.Chdir(away)
	if o := drive(t, "", "merge", filepath.Join(home, "study")); o.status != exitFailed || !strings.Contains(o.stderr, "run again: parts 1 of 2") {
		t.Errorf("half a study: %+v", o)
	}
	t.Chdir(home)
	must(t, append(args, "--shard", "1/2", "--out", "study")...)
	t.Chdir(away)
	if merged := timeless(t, must(t, "merge", filepath.Join(home, "study"), "--quiet", "--json", "-")); !reflect.DeepEqual(merged, alone) {
		t.Errorf("merged %v\nalone %v", merged, alone)
	}
	lines("8")
	if o := drive(t, "", "merge", filepath.Join(home, "study")); o.status != exitUsage || !strings.Contains(o.stderr, "d.csv is not what it was") {
		t.Errorf("merge of changed data: %+v", o)
	}
	t.Chdir(home)
	if o := drive(t, "", append(args, "--shard", "0/2", "--out", "study")...); o.status != exitUsage || !strings.Contains(o.stderr, "d.csv is not what it was") {
		t.Errorf("a part on changed data: %+v", o)
	}
}

// TestShardsNeedFiles: standard input, which each part would find empty but the
// first, is refused.
func TestShardsNeedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	o := drive(t, "x,y\n1,2\n2,3\n3,5\n", "retrain", "-", "--loss", "square", "--noise", "1", "--shard", "0/2", "--out", dir)
	if o.status != exitUsage || !strings.Contains(o.stderr, "standard input") {
		t.Errorf("%+v", o)
	}
}

// TestStudyStarts: of parts that start at the same time all with the same command
// go on and all others are refused; the note is whole whenever it can be seen.
func TestStudyStarts(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		wrote := make(chan error)
		const parts = 8
		for i := range parts {
			go func() {
				wrote <- writeStudy(dir, studyFile{Args: []string{"curve", strings.Repeat("x", 1+i%2*5000)}, Dir: "/", Parts: parts})
			}()
		}
		refused := 0
		for range parts {
			err := <-wrote
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "belongs to another study") {
				t.Fatal(err)
			}
			refused++
		}
		if refused != parts/2 {
			t.Fatalf("%d of %d parts are refused", refused, parts)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	}
}

// TestHalfAPart: a part's file cut short anywhere, or with any byte changed, and
// the file that a killed part was still writing, count as missing.
func TestHalfAPart(t *testing.T) {
	store, err := newBlockStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := predictions{F: [][]float64{{1, 2}, {3, 4}}}
	if err := store.Save("a", want); err != nil {
		t.Fatal(err)
	}
	var got predictions
	if found, err := store.Load("a", &got); !found || err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v, %v", found, err, got)
	}
	path := store.path("a")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		got := predictions{}
		if found, err := store.Load("a", &got); found || err != nil || got.F != nil {
			t.Errorf("%s byte %d: %v, %v, %v", what, at, found, err, got)
		}
	}
	for i := range whole {
		refuse("cut at", i, whole[:i])
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 1
		refuse("changed", i, damaged)
	}
	if err := os.Rename(path, filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-123")); err != nil {
		t.Fatal(err)
	}
	if found, err := store.Load("a", &got); found || err != nil {
		t.Errorf("a temporary file is taken: %v, %v", found, err)
	}
}

// TestMergeWithDashes: what stands behind "--" are no flags.
func TestMergeWithDashes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	must(t, "retrain", "--resamples", "20", "--no-points", "--shard", "0/1", "--out", dir, "--", "crabs")
	if text := must(t, "merge", dir); !strings.Contains(text, "crabs") {
		t.Errorf("merged %q", text)
	}
}

// TestOwnFiles: an output that is DATA, or another output, is refused.
func TestOwnFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	text := []byte("x,y\n1,1\n2,-1\n3,1\n4,-1\n")
	if err := os.WriteFile("d.csv", text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"estimate", "d.csv", "--loss", "hinge", "--C", "1", "--json", "./d.csv"},
		{"train", "d.csv", "--loss", "hinge", "--C", "1", "--no-standardize", "--model", "d.csv"},
		{"train", "d.csv", "--loss", "hinge", "--C", "1", "--no-standardize", "--model", "-"},
		{"estimate", "boston", "--json", "same", "--checkpoint", "same"},
	} {
		if o := drive(t, "", args...); o.status != exitUsage || o.stdout != "" {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if kept, err := os.ReadFile("d.csv"); err != nil || string(kept) != string(text) {
		t.Errorf("DATA is %q, %v", kept, err)
	}
}

// TestWantsRanks: the last --engine counts, in either form.
func TestWantsRanks(t *testing.T) {
	for args, want := range map[string]bool{
		"estimate boston": false, "estimate --engine scalapack": true, "estimate --engine=scalapack": true, "estimate --engine": false,
		"estimate --engine exact --engine scalapack": true, "estimate --engine=scalapack --engine exact": false,
	} {
		if got := wantsRanks(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}
