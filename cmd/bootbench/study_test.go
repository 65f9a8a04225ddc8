package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/study"
	"bootbench/internal/need"
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

// refinedRounding is how far apart refined values of the same run may be, as a share of them: the rounding
// of single precision in a fit depends, with the kernels of some processors, on its place in a block, and
// that on which worker was free.
const refinedRounding = 1e-5

// sameStudy reports whether two documents hold the same answer, to the last bit but for refined values.
func sameStudy(a, b any, refined bool) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		for name := range x {
			ok = ok && (refined && name == "iterations" || sameStudy(x[name], y[name], refined || name == "refined"))
		}
		return ok && len(x) == len(y)
	case []any:
		y, ok := b.([]any)
		for i := 0; ok && i < len(x); i++ {
			ok = len(x) == len(y) && sameStudy(x[i], y[i], refined)
		}
		return ok && len(x) == len(y)
	case float64:
		y, ok := b.(float64)
		return x == y || ok && refined && math.Abs(x-y) <= refinedRounding*math.Max(math.Abs(x), 1)
	}
	return a == b
}

// TestShards: parts in any order, one of them twice, merge to the answer of one
// process, number by number; with a part missing merge names it.
func TestShards(t *testing.T) {
	for name, args := range map[string][]string{
		"retrain": on("retrain", "--resamples", "250", "--seed", "4"),
		"curve":   on("curve", "--ratio", "0.5,1,2", "--refine", "none"),
	} {
		dir := filepath.Join(t.TempDir(), "study")
		part := func(shard string) string {
			return must(t, append(args[:len(args):len(args)], "--shard", shard, "--out", dir)...)
		}
		part("2/3")
		if o := drive(t, "", "merge", dir); o.status != exitFailed ||
			strings.Contains(o.stdout, "tasks are done") || !strings.Contains(o.stderr, "2 tasks are missing: ") ||
			!strings.Contains(o.stderr, "friedman1") {
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
			whole = append(whole[:len(whole):len(whole)], "--shard", "0/1", "--out",
				filepath.Join(t.TempDir(), "alone"))
		}
		if alone := timeless(t, must(t, append(whole[:len(whole):len(whole)], "--json",
			"-")...)); !sameStudy(merged, alone, false) {
			t.Errorf("%s: merged, the answer is another", name)
		}
		if o := drive(t, "", append(args[:len(args):len(args)], "--quiet", "--jitter", "0.1", "--shard", "0/3",
			"--out", dir)...); o.status != exitUsage || !strings.Contains(o.stderr, "another study") {
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
	text := need.One(os.ReadFile(parts[0]))(t)
	if err := os.WriteFile(parts[0], text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if got := must(t, append(args, "--json", "-")...); !reflect.DeepEqual(timeless(t, got), timeless(t, want)) {
		t.Error("the answer has changed")
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
	if o := drive(t, "", "merge", filepath.Join(home, "study")); o.status != exitFailed ||
		!strings.Contains(o.stderr, "run again: parts 1 of 2") {
		t.Errorf("half a study: %+v", o)
	}
	t.Chdir(home)
	must(t, append(args, "--shard", "1/2", "--out", "study")...)
	t.Chdir(away)
	if merged := timeless(t, must(t, "merge", filepath.Join(home, "study"), "--quiet", "--json",
		"-")); !reflect.DeepEqual(merged, alone) {
		t.Errorf("merged %v\nalone %v", merged, alone)
	}
	lines("8")
	if o := drive(t, "", "merge", filepath.Join(home, "study")); o.status != exitUsage ||
		!strings.Contains(o.stderr, "d.csv is not what it was") {
		t.Errorf("merge of changed data: %+v", o)
	}
	t.Chdir(home)
	if o := drive(t, "", append(args, "--shard", "0/2", "--out", "study")...); o.status != exitUsage ||
		!strings.Contains(o.stderr, "d.csv is not what it was") {
		t.Errorf("a part on changed data: %+v", o)
	}
}

// TestShardsNeedFiles: standard input, which each part would find empty but the
// first, is refused.
func TestShardsNeedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	o := drive(t, "x,y\n1,2\n2,3\n3,5\n", "retrain", "-", "--loss", "square", "--noise", "1", "--shard", "0/2",
		"--out", dir)
	if o.status != exitUsage || !strings.Contains(o.stderr, "standard input") {
		t.Errorf("%+v", o)
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
	} {
		if o := drive(t, "", args...); o.status != exitUsage || o.stdout != "" {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if kept, err := os.ReadFile("d.csv"); err != nil || string(kept) != string(text) {
		t.Errorf("DATA is %q, %v", kept, err)
	}
}

// TestWantsRanks: the last --engine counts, in either form. Low rank is shared in one of
// several processes, by commands that can, unless they are parts of a study.
func TestWantsRanks(t *testing.T) {
	for args, want := range map[string]bool{
		"estimate boston": false, "estimate --engine scalapack": true, "estimate --engine=scalapack": true,
		"estimate --engine":                          false,
		"estimate --engine exact --engine scalapack": true, "estimate --engine=scalapack --engine exact": false,
		"estimate --engine lowrank": false, "4 estimate --engine lowrank": true,
		"1 estimate --engine lowrank": false, "4 estimate": false,
		"4 retrain --engine lowrank": false, "4 estimate --shard auto --engine lowrank": false,
		"4 --quiet curve --engine=lowrank boston": true,
	} {
		words, processes := strings.Fields(args), ""
		if c := words[0][0]; c >= '0' && c <= '9' {
			words, processes = words[1:], words[0]
		}
		lookup := func(name string) (string, bool) {
			return processes, name == "OMPI_COMM_WORLD_SIZE" &&
				processes != ""
		}
		if got := wantsRanks(words, lookup); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// TestCraftedStudies: whatever stands in a folder, merge writes nothing that it was
// not told to, runs nothing but what can be split, and says what is wrong, with
// status 2.
func TestCraftedStudies(t *testing.T) {
	victim := write(t, "victim", "mine")
	setting := func(name string, values ...string) study.Setting {
		return study.Setting{Name: name,
			Values: values}
	}
	record := func(command string, settings ...study.Setting) study.Record {
		return study.Record{Schema: study.Schema, Version: version(), Command: command, Data: []string{"crabs"},
			Folder: "/", Settings: settings, Parts: 1}
	}
	later := record("curve")
	later.Schema = 9
	missing := record("curve")
	missing.Parts = 0
	for says, content := range map[string]any{
		"schema 0": map[string]any{"args": []string{"merge", ".", "--json",
			"-"}, "dir": "/", "parts": 1, "data": []string{}},
		"no command that can be split":                  record("merge"),
		`"train", which is no command`:                  record("train", setting("model", victim)),
		`setting "csv"`:                                 record("predict", setting("csv", victim)),
		`setting "cpuprofile", which no study can have`: record("curve", setting("cpuprofile", victim)),
		`setting "json"`:                                record("retrain", setting("json", victim)),
		`setting "trace"`:                               record("curve", setting("trace", victim)),
		`setting "out"`:                                 record("grid", setting("out", filepath.Dir(victim))),
		`setting "nosuch"`:                              record("grid", setting("nosuch", "1")),
		"2 values of --ratio":                           record("retrain", setting("ratio", "1", "2")),
		"invalid syntax":                                record("retrain", setting("resamples", "many")),
		"schema 9, this program reads":                  later,
		"no command, or no parts":                       missing,
		"unknown field": map[string]any{"schema": study.Schema, "command": "curve",
			"parts": 1, "args": []string{}},
		"takes one DATA": study.Record{Schema: study.Schema, Version: version(),
			Command: "curve", Parts: 1},
		"standard input cannot be split": study.Record{Schema: study.Schema, Version: version(),
			Command: "curve", Data: []string{"-"}, Parts: 1},
		"of version older of the program": study.Record{Schema: study.Schema, Version: "older",
			Command: "curve", Data: []string{"crabs"}, Parts: 1},
		"invalid character": nil,
	} {
		dir := t.TempDir()
		text := need.One(json.Marshal(content))(t)
		if content == nil {
			text = []byte("{]")
		}
		if err := os.WriteFile(filepath.Join(dir, "study.json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		o := drive(t, "", "merge", dir)
		if o.status != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, says) ||
			strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", says, o)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
	if o := drive(t, "", "merge", t.TempDir()); o.status != exitUsage ||
		!strings.Contains(o.stderr, "there is no study.json") {
		t.Errorf("an empty folder: %+v", o)
	}
}

// TestStudySettings: every flag of a command that can be split either decides the
// answer, and is recorded, or is known not to; none of those recorded names a file to
// write.
func TestStudySettings(t *testing.T) {
	working := []string{"workers", "threads", "quiet", "shard", "shards", "out", "json", "trace", "cpuprofile", "memprofile",
		"replicates", "csv", "estimators", "splits", "help", "model", "models", "covariance"}
	for _, cmd := range commands() {
		if !shards(cmd) {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if recorded := slices.Contains(studySettings, f.Name); recorded == slices.Contains(working, f.Name) {
				t.Errorf("%s --%s: is it a setting of a study, or not?", cmd.Name(), f.Name)
			}
		})
	}
}

// TestShortRows: a part whose rows are too short, or not finite, does not merge: the
// tasks of it are told with the reason.
func TestShortRows(t *testing.T) {
	for says, spoil := range map[string]func(row []float64) []float64{
		"has 59 numbers, not 60": func(row []float64) []float64 { return row[:59] },
		"number 1 is NaN":        func(row []float64) []float64 { row[0] = math.NaN(); return row },
	} {
		dir := filepath.Join(t.TempDir(), "study")
		must(t, on("retrain", "--resamples", "20", "--shard", "0/1", "--out", dir)...)
		spoilPart(t, dir, spoil)
		o := drive(t, "", "merge", dir)
		if o.status != exitFailed || o.stdout != "" ||
			!strings.Contains(o.stderr, "resamples 1 to 20 of synthetic:friedman1") ||
			!strings.Contains(o.stderr, "refused: resample 3 "+says) &&
				!strings.Contains(o.stderr, "refused: resample 3: "+says) {
			t.Errorf("%s: %+v", says, o)
		}
	}
}

// spoilPart changes the third resample of the one part in a folder, checksum and all.
func spoilPart(t *testing.T, dir string, spoil func(row []float64) []float64) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.gob"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	content := need.One(os.ReadFile(parts[0]))(t)
	seal := files.Seal{Kind: "part", Schema: study.Schema}
	body := need.One(seal.Open(content))(t)
	var head struct{ Version, Key string }
	var p predictions
	decoder := gob.NewDecoder(bytes.NewReader(body))
	if err := errors.Join(decoder.Decode(&head), decoder.Decode(&p)); err != nil {
		t.Fatal(err)
	}
	p.F[2] = spoil(p.F[2])
	var spoilt bytes.Buffer
	encoder := gob.NewEncoder(&spoilt)
	if err := errors.Join(encoder.Encode(head), encoder.Encode(p),
		os.WriteFile(parts[0], seal.Close(spoilt.Bytes()), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedOutputs: links in --out and in a study's folder lead nowhere: what they
// point to stays as it is.
func TestLinkedOutputs(t *testing.T) {
	victim := write(t, "victim", "mine")
	dir := t.TempDir()
	for _, name := range []string{"result.json", "report.html", "points.csv", "study.json"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	must(t, on("estimate", "--out", dir)...)
	if o := drive(t, "", on("retrain", "--resamples", "5", "--shard", "0/1", "--out",
		dir)...); o.status != exitUsage || !strings.Contains(o.stderr, "links are not followed") {
		t.Errorf("a part: %+v", o)
	}
	if o := drive(t, "", "merge", dir); o.status != exitUsage ||
		!strings.Contains(o.stderr, "links are not followed") {
		t.Errorf("merge: %+v", o)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
}
