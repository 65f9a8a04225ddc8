package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// leads are commands and the sentence that begins their page.
const leads = `
estimate NUMBERS | error of predictions of \S+ is [\d.]+ \+- [\d.]+ \(root mean square\)
estimate LABELS | ^[\d.]+% \+- [\d.]+% of new rows get the wrong label
predict NUMBERS --test synthetic:friedman1,n=60 | is in its interval with probability 95%
predict LABELS --test synthetic:blobs,n=100 | and its probability
curve LABELS | ^More rows .* with all 100 rows
curve LABELS --ratio 1,2 | at 2 ratios
grid synthetic:blobs,n=100 --loss hinge --over C=1,2 | best of 2 models is C
rows LABELS | Look at the rows \d+, \d+ and \d+ first
cv LABELS | of new rows get the wrong label
loo LABELS | by a model without it: [\d.]+% get
retrain LABELS --resamples 50 | Models of 50 resamples err by
compare NUMBERS --resamples 50 --sizes 30,60 | theory takes the time of`

// TestLeads: the page of every command begins with the answer in a sentence, and predict shows a person
// what was asked for, not the law over resamples.
func TestLeads(t *testing.T) {
	models := strings.NewReplacer("NUMBERS", "synthetic:friedman1,n=60 --loss square --noise 1",
		"LABELS", "synthetic:blobs,n=100 --loss hinge --C 1")
	lead := regexp.MustCompile(`<p class="lead">(.*)</p>`)
	for _, line := range strings.Split(leads, "\n")[1:] {
		command, want, _ := strings.Cut(line, " | ")
		folder := t.TempDir()
		must(t, append(strings.Fields(models.Replace(command)), "--out", folder)...)
		page := string(need.One(os.ReadFile(filepath.Join(folder, "report.html")))(t))
		got := lead.FindStringSubmatch(strings.ReplaceAll(page, "&#43;", "+"))
		if got == nil || !regexp.MustCompile(want).MatchString(got[1]) {
			t.Errorf("%s: the page begins with %q, want %s", command, got, want)
		}
	}
	predict := strings.Fields(models.Replace("predict LABELS --test synthetic:blobs,n=100"))
	text := must(t, predict...)
	if strings.Contains(text, "p_negative") || !strings.Contains(text, "P(1)") {
		t.Errorf("predict shows\n%s", text)
	}
	if text := must(t, append(predict, "--verbose")...); !strings.Contains(text, "p_negative") {
		t.Errorf("predict --verbose shows\n%s", text)
	}
}
