package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestBrowser opens a page from disk in headless Chromium, where there is one:
// nothing on the console, and nothing asked for from elsewhere. A page that does
// both shows that the check would see it.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	dir := t.TempDir()
	must(t, on("curve", "--ratio", "0.5,1,2", "--out", dir)...)
	dom, console, requests := open(t, browser, filepath.Join(dir, "report.html"))
	if !strings.Contains(dom, "<svg") || !strings.Contains(dom, "left-out") {
		t.Error("the page lacks its figure or its numbers")
	}
	if len(console) > 0 || len(requests) > 0 {
		t.Errorf("console %q, requests %q", console, requests)
	}
	bad := filepath.Join(dir, "bad.html")
	text := `<script>console.error("seen")</script><img src="http://127.0.0.1:9/elsewhere.png">`
	if err := os.WriteFile(bad, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, console, requests := open(t, browser, bad); len(console) == 0 || len(requests) == 0 {
		t.Errorf("the check is blind: console %q, requests %q", console, requests)
	}
}

// open renders a page, and returns its elements, the lines on its console and
// the addresses that it asked for.
func open(t *testing.T, browser, page string) (dom string, console, requests []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "net.json")
	command := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--user-data-dir="+filepath.Join(dir, "profile"), "--log-net-log="+log,
		"--enable-logging=stderr", "--dump-dom", "file://"+page)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			console = append(console, line)
		}
	}
	return string(out), console, requested(t, log)
}

// requested are the addresses that a page asked for by a net log. What the
// browser asks for on its own has no origin.
func requested(t *testing.T, path string) []string {
	t.Helper()
	text := need.One(os.ReadFile(path))(t)
	var log struct {
		Events []struct {
			Params struct{ URL, Initiator string }
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, e := range log.Events {
		if p := e.Params; p.URL != "" && p.Initiator != "" && p.Initiator != "not an origin" {
			urls = append(urls, p.URL)
		}
	}
	return urls
}
