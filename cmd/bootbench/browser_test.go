package main

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootbench/internal/testutil"
)

// faulty is a page with faults of every kind.
const faulty = `<html><head></head><body style="color: #aaa"><img src="http://127.0.0.1:9/">
<p style="width: 2000px">wide</p><a href="#nowhere">link</a>
<figure><svg viewBox="0 0 100 50" width="100" font-size="9">
<text x="80" y="20">long text</text><text x="82" y="22">another</text></svg></figure></body></html>`

// browser is an installed Chromium.
func browser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if exec.Command(name, "--version").Run() == nil {
			return name
		}
	}
	t.Skip("SKIP: no Chromium is installed")
	return ""
}

// browse runs the browser without a window on a file, and returns what it prints and what it logs.
func browse(t *testing.T, file string, flags ...string) (out, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser(t), append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
		"--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}, append(flags, "file://"+file)...)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("the browser ends with %v: %s", err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// look shows pages in the browser at 400 and 1200 pixels, on paper and in the dark, and returns what is
// wrong.
func look(t *testing.T, pages map[string]string) (found []string) {
	t.Helper()
	trial := string(testutil.Must(os.ReadFile("testdata/browser.html"))(t))
	text := strings.Replace(trial, "PAGES", string(testutil.Must(json.Marshal(pages))(t)), 1)
	file := filepath.Join(folder(t, map[string]string{"trial.html": text}), "trial.html")
	out, log := browse(t, file, "--virtual-time-budget=600000", "--dump-dom", "--window-size=1300,1100")
	written := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindStringSubmatch(out)
	var verdict struct {
		Looked int
		Found  []string
	}
	if written == nil || json.Unmarshal([]byte(html.UnescapeString(written[1])), &verdict) != nil ||
		verdict.Looked != 4*len(pages) {
		t.Fatalf("%d looks at %d pages: %v\n%s", verdict.Looked, len(pages), written, log)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, ":CONSOLE") {
			verdict.Found = append(verdict.Found, "console: "+strings.TrimSpace(line))
		}
	}
	return verdict.Found
}

// TestBrowser: the pages of commands load nothing, write nothing to the console, fit on a telephone, a desk
// and paper, and have figures with texts that are large enough, whole and apart. A page with faults is told.
func TestBrowser(t *testing.T) {
	browser(t)
	faults := look(t, map[string]string{"faults": faulty})
	for _, want := range []string{"beyond the right edge", "wide is cut", "a link to #nowhere",
		"leaves its figure", "lies over", "px high", "has no name", "has a contrast of", "console: "} {
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("a page with faults: no %q in\n%s", want, strings.Join(faults, "\n"))
		}
	}
	tables, pages, files := goldenTables(t, nil), map[string]string{}, map[string]string{}
	long := strings.Repeat("a-long-name-", 8)
	add := func(name string, args ...string) {
		out := filepath.Join(t.TempDir(), "out")
		o := driveWith(t.Context(), "", append(args, "--quiet", "--out", out)...)
		if o.status != exitDone {
			t.Fatalf("%s: status %d: %s", name, o.status, o.stderr)
		}
		files[name] = filepath.Join(out, "report.html")
		pages[name] = string(testutil.Must(os.ReadFile(files[name]))(t))
	}
	for _, line := range cases("browsed") {
		add(line, words(goldenLine(tables, line))...)
	}
	dir := folder(t, map[string]string{long + ".csv": csvOf("a,b,"+long, 16, func(i int) []any {
		return []any{i * i % 7, i * 3 % 5, []string{long + "1", long + "2", "m"}[i%3]}
	})})
	add("long names and few rows", "estimate", filepath.Join(dir, long+".csv"), "--loss", "hinge", "--C", "1")
	for _, fault := range look(t, pages) {
		t.Error(fault)
	}
	for _, want := range []struct{ page, holds string }{
		{"estimate NUMBERS SQUARE", `id="points-target"`}, {"estimate CLASSES HINGE", `id="reliability-ash"`},
		{"estimate TARGETS SQUARE", `id="points-target-z"`}, {"curve NUMBERS SQUARE", `id="curve-`},
		{"estimate LABELS HINGE", `id="reliability"`}, {"cv CLASSES HINGE", `id="intervals"`},
		{"long names and few rows", `<p id="BB011">`}} {
		if !strings.Contains(pages[want.page], want.holds) {
			t.Errorf("%s: no %s", want.page, want.holds)
		}
	}
	pdf := filepath.Join(t.TempDir(), "page.pdf")
	browse(t, files["estimate LABELS HINGE"], "--print-to-pdf="+pdf, "--no-pdf-header-footer")
	sheets := len(regexp.MustCompile(`/Type /Page\b`).FindAll(testutil.Must(os.ReadFile(pdf))(t), -1))
	if sheets < 2 || sheets > 5 {
		t.Errorf("a page prints on %d sheets", sheets)
	}
}
