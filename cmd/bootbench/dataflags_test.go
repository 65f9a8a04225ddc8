package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestDataFlags: each flag reaches the reader, and the answer says target, labels
// and what was found.
func TestDataFlags(t *testing.T) {
	path := write(t, "d.csv", "id;y;a;sex\nr1;no;1,5;m\nr2;yes;2,5;f\nr3;no;;m\nr4;yes;0,5;f\nr5;no;1;m\n")
	flags := []string{path, "--loss", "hinge", "--target", "y", "--drop", "id", "--positive", "no", "--json",
		"-", "--quiet"}
	a := document[report.Estimate](t, must(t, append([]string{"estimate", "--missing", "drop"}, flags...)...))
	if a.N != 4 || a.D != 2 || a.Target != "y" || a.Labels.Positive != "no" || a.Labels.Negative != "yes" ||
		len(a.Notes) == 0 {
		t.Errorf("%+v", a)
	}
	a = document[report.Estimate](t, must(t, append([]string{"estimate", "--missing", "indicator"},
		flags...)...))
	if a.N != 5 || a.D != 3 {
		t.Errorf("%+v", a)
	}
	fresh := write(t, "new.txt", "\tsex\ta\twhen\nBerlin\tf\t2\tnow\nRome\tx\t2\tnow\n")
	predict := append([]string{"predict", "--test", fresh, "--missing", "mean"}, flags...)
	if o := drive(t, "", predict...); o.status != exitUsage ||
		!strings.Contains(o.stderr, `"x" is none of the texts`) || !strings.Contains(o.stderr, "--unseen zero") {
		t.Errorf("an unseen text: %d, %s", o.status, o.stderr)
	}
	a = document[report.Estimate](t, must(t, append(predict, "--unseen", "zero")...))
	if !slices.Equal(a.Points.Names, []string{"Berlin", "Rome"}) || a.Points.Target != nil {
		t.Errorf("%+v", a)
	}
	if o := drive(t, "", append(predict, "--unseen", "one")...); o.status != exitUsage ||
		!strings.Contains(o.stderr, "error, zero") {
		t.Errorf("--unseen one: %d, %s", o.status, o.stderr)
	}
	for _, c := range []struct{ flag, value, says string }{
		{"--missing", "guess", "there is error, drop, mean, indicator"},
		{"--missing", "error", "--missing drop, mean or indicator"}, {"--target", "z", `no column "z"`},
		{"--positive", "maybe", `"maybe" is none of the 2 values`},
	} {
		args := []string{"estimate", path, "--loss", "hinge", "--missing", "mean", c.flag, c.value}
		if c.flag != "--target" {
			args = append(args, "--target", "y")
		}
		if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s %s: %d, %s", c.flag, c.value, o.status, o.stderr)
		}
	}
	codes := write(t, "codes.csv", "month,size,kind\n1,1,red\n2,2,blue\n1,4,green\n3,5,red\n2,3,red\n")
	if o := drive(t, "", "compare", codes); o.status != exitUsage || !strings.Contains(o.stderr, "--positive") {
		t.Errorf("three classes: %d, %s", o.status, o.stderr)
	}
	a = document[report.Estimate](t, must(t, "estimate", codes, "--positive", "red", "--categorical", "month",
		"--loss",
		"hinge", "--json", "-", "--quiet"))
	if a.D != 4 || a.Labels.Positive != "red" || a.Labels.Negative != "not "+
		"red" || !slices.Equal([]float64(a.Points.Target),
		[]float64{1, -1, -1, 1, 1}) {
		t.Errorf("%+v", a)
	}
	zero := write(t, "d.svm", "1 0:1\n-1 1:1\n1 0:2 1:1\n")
	must(t, "estimate", zero, "--loss", "hinge", "--zero-based", "--quiet")
	must(t, "estimate", write(t, "bare.data", "1 2 3\n4 5 7\n3 1 2\n"), "--loss", "square", "--noise", "1",
		"--no-header", "--quiet")
}

// TestExport: what is exported reads back as the set.
func TestExport(t *testing.T) {
	for _, name := range []string{"boston.csv", "boston.svm"} {
		path := filepath.Join(t.TempDir(), name)
		must(t, "datasets", "--export", "boston", path)
		if info, err := os.Stat(path); err != nil || info.Size() < 10000 {
			t.Fatalf("%s: %v", name, err)
		}
		model := []string{"--loss", "square", "--noise", "0.01", "--gamma", "0.1", "--no-normalize-target"}
		a, b := decoded[report.Estimate](t, append([]string{"estimate", path}, model...)...),
			decoded[report.Estimate](t, append([]string{"estimate", "boston"}, model...)...)
		if a.TestError != b.TestError {
			t.Errorf("%s: left-out error %v, of the embedded set %v", name, a.TestError, b.TestError)
		}
	}
}
