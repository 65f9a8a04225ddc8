package main

import (
	"os"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/report"
)

// TestInputsAreKept: no output takes the place of DATA or of new inputs, under another
// spelling of its name either; the file is as it was.
func TestInputsAreKept(t *testing.T) {
	data := houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})
	before := need.One(os.ReadFile(data))(t)
	spelled := strings.Replace(data, "/houses.csv", "/./houses.csv", 1)
	for _, line := range []string{
		"estimate DATA --json SAME", "estimate DATA --covariance SAME",
		"estimate DATA --memprofile SAME",
		"estimate PATTERN --json SAME", "retrain DATA --replicates SAME", "predict boston --test DATA --csv SAME",
		"predict boston --test DATA --json SAME",
	} {
		args := strings.Fields(strings.NewReplacer("DATA", data, "SAME", spelled, "PATTERN",
			strings.Replace(data, "houses.csv", "hou*.csv", 1)).Replace(line))
		if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, "would be lost") {
			t.Errorf("%s: status %d, %q", line, o.status, o.stderr)
		}
		if after, err := os.ReadFile(data); err != nil || string(after) != string(before) {
			t.Fatalf("%s: the file is another: %v", line, err)
		}
	}
}

// TestPipe: DATA from standard input and the answer to standard output are two streams.
func TestPipe(t *testing.T) {
	table := string(need.One(os.ReadFile(houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})))(t))
	for _, command := range []string{"estimate", "loo", "retrain"} {
		args := strings.Fields(command + " - --loss square --noise 1 --json - --quiet")
		if command == "retrain" {
			args = append(args, "--resamples", "5")
		}
		if o := drive(t, table, args...); o.status != exitDone || document[report.Estimate](t, o.stdout).N == 0 {
			t.Errorf("%s: %+v", command, o)
		}
	}
}
