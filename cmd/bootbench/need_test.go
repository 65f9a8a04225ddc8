package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestNamedNeed: the memory that a refusal names is enough for all that a command does.
func TestNamedNeed(t *testing.T) {
	need := regexp.MustCompile(`needs ([0-9.]+) ([KM]iB)`)
	for _, line := range []string{
		"estimate synthetic:rings,n=400 --loss hinge --C 1 --engine exact",
		"retrain synthetic:rings,n=400 --loss logistic --C 1 --resamples 300",
		"predict synthetic:friedman1,n=400 --test synthetic:friedman1,n=50 " +
			"--loss square --noise 1 --engine exact",
	} {
		args := strings.Fields(line + " --quiet --max-memory")
		o := drive(t, "", append(args, "1MB")...)
		named := need.FindStringSubmatch(o.stderr)
		if o.status != exitUsage || named == nil {
			t.Fatalf("%s: status %d, %s", line, o.status, o.stderr)
		}
		if o := drive(t, "", append(args, named[1]+named[2])...); o.status != exitDone {
			t.Errorf("%s with what was named: status %d, %s", line, o.status, o.stderr)
		}
	}
}
