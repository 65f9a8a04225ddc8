package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// refusedFiles are the files in the folder DIR of testdata/refusals.txt.
var refusedFiles = map[string]string{
	"empty.csv": "", "ragged.csv": "a,y\n1,2\n3\n",
	"word.csv": "a,y\n1,2\n3,four\n", "nan.csv": "a,y\n1,2\nNaN,4\n",
	"one.csv": "a,y\n1,2\n", "flat.csv": "a,y\n1,2\n3,2\n", "line.csv": "x,y\n1,1\n2,2\n3,4\n4,4\n",
	"two.csv":   "x,a,b\n1,2,3\n2,4,1\n3,3,5\n4,1,1\n",
	"signs.csv": "w,x,y\n1,2,3\n-1,3,2\n2,2,1\n1,4,4\n",
	"large.csv": "x,y\n1,1e155\n2,-1e155\n3,0\n4,1e155\n", "huge.csv": "x,y\n1,1e60\n",
	"far.csv": "x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n" + strings.Repeat("1e200,", 9) + "1\n",
}

// TestRefusals: bad usage and bad input end with status 2, one line that says what is wrong, and nothing on
// standard output; no file is written.
func TestRefusals(t *testing.T) {
	dir := folder(t, refusedFiles)
	for _, line := range cases("refusals") {
		command, says, _ := strings.Cut(line, " | ")
		refused(t, says, strings.ReplaceAll(command, "DIR", dir))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(refusedFiles) {
		t.Errorf("%v, %v: files were written", files, err)
	}
}

// TestNamedNeed: the memory that a refusal names is enough for all that a command does.
func TestNamedNeed(t *testing.T) {
	need := regexp.MustCompile(`needs ([0-9.]+) ([KM]iB)`)
	for _, line := range []string{
		"estimate synthetic:rings,n=400 --loss hinge --C 1 --engine exact",
		"retrain synthetic:rings,n=400 --loss logistic --C 1 --resamples 60",
		"predict synthetic:friedman1,n=400 --test synthetic:friedman1,n=50 --loss square --noise 1 " +
			"--engine exact",
	} {
		o := drive(t, "", line, "--quiet --max-memory 1MB")
		named := need.FindStringSubmatch(o.stderr)
		if o.status != exitUsage || named == nil {
			t.Fatalf("%s: status %d, %s", line, o.status, o.stderr)
		}
		if o := drive(t, "", line, "--quiet --max-memory", named[1]+named[2]); o.status != exitDone {
			t.Errorf("%s with what was named: status %d, %s", line, o.status, o.stderr)
		}
	}
}

// TestOwnFlags: what a command says of too little memory, a rank or a sample names flags that it has
// (driveWith), in every command that trains.
func TestOwnFlags(t *testing.T) {
	for _, command := range []string{"estimate", "curve", "predict --test synthetic:blobs,n=5,d=3",
		"retrain", "cv",
		"rows", "loo", "grid --over C=1,2", "tune --over C", "train --model " + t.TempDir() + "/m.json"} {
		for _, flags := range []string{"--max-memory 2MiB --engine exact", "--max-memory 200KiB",
			"--sample 5",
			"--engine lowrank --rank-tol 1e-12 --max-memory 300KiB"} {
			name, rest, _ := strings.Cut(command, " ")
			o := drive(t, "", name, "synthetic:blobs,n=600,d=3 --loss hinge --C 1", rest, flags)
			table := name == "grid" || name == "tune" // of models, some of which may fail
			if o.status != exitUsage && !(table && o.status == exitFailed) || o.stderr == "" {
				t.Errorf("%s %s: status %d, %s", command, flags, o.status, o.stderr)
			}
		}
	}
}
