// Package study splits a long computation into tasks whose results lie in a folder:
// one process does all of them, or several do a part each and merge reads them back.
package study

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
)

// Study is what one process does of a study. A nil Study does every task and keeps
// nothing.
type Study struct {
	store       store
	part, parts int     // this process does the tasks whose number is part modulo parts
	record      *Record // of the study that is merged; nil: tasks are done
	done        int     // tasks that this process did, or found done
	missing     []missingTask
}

// Task is a piece of a study.
type Task struct {
	Number  int          // by which tasks are dealt out to parts, from 0
	Name    string       // for readers
	Key     string       // names everything that the result depends on
	Compute func() error // fills the result
	Check   func() error // refuses a result that was kept and cannot be this task's
}

// missingTask is one that merge did not find, or refused for a reason.
type missingTask struct {
	Task
	refused error
}

// Begin is part number part of parts of a study: it notes the record in the folder.
func Begin(folder files.Folder, record Record, part, parts int) (*Study, error) {
	s, err := Keep(folder, record.Version)
	if err != nil {
		return nil, err
	}
	s.part, s.parts = part, parts
	record.Parts = parts
	if record.Folder, err = os.Getwd(); err != nil {
		return nil, err
	}
	return s, record.write(folder)
}

// Keep is a study in one process, whose results are found again by the next run into
// the folder, of the same settings or not.
func Keep(folder files.Folder, version string) (*Study, error) {
	parts, err := folder.Sub("parts")
	if err != nil {
		return nil, usage.Errorf("--out: %w", err)
	}
	return &Study{store: store{parts, version}, parts: 1}, nil
}

// Merge reads the parts of a study back, which must be of the same data.
func Merge(folder files.Folder, record *Record, version string, digests []string) (*Study, error) {
	if record.Version != version {
		return nil, usage.Errorf(
			"the parts in %s are of version %s of the program, this is %s: run them again, into another folder",
			folder.Path(), record.Version, version)
	}
	s, err := Keep(folder, version)
	if err != nil {
		return nil, err
	}
	s.record = record
	return s, record.checkDigests(digests)
}

// Do fills a task's result, a pointer to a zero value, from the folder or by
// computing it, and says whether it is filled: it is not where the task is another
// process's.
func (s *Study) Do(t Task, result any) (filled bool, err error) {
	if s == nil {
		return true, t.Compute()
	}
	if s.record == nil && t.Number%s.parts != s.part {
		return false, nil
	}
	err = s.store.load(t.Key, result)
	if err == nil && t.Check != nil {
		err = t.Check()
	}
	switch {
	case err == nil:
		s.done++
		return true, nil
	case s.record != nil:
		if isMissing(err) {
			err = nil
		}
		s.missing = append(s.missing, missingTask{t, err})
		return false, nil
	}
	if err := t.Compute(); err != nil {
		return false, err
	}
	s.done++
	return true, s.store.save(t.Key, result)
}

// Partial reports whether the answer lacks tasks of other processes.
func (s *Study) Partial() bool { return s != nil && s.record == nil && s.parts > 1 }

// Done is the number of tasks that this process did, or found done.
func (s *Study) Done() int {
	if s == nil {
		return 0
	}
	return s.done
}

// String says what a part has done.
func (s *Study) String() string {
	return fmt.Sprintf("part %d of %d: %d tasks are done and kept", s.part, s.parts, s.done)
}

// Complete refuses to merge a study with tasks missing, and names them.
func (s *Study) Complete() error {
	if s == nil || len(s.missing) == 0 {
		return nil
	}
	const shown = 5
	var names []string
	for _, m := range s.missing[:min(shown, len(s.missing))] {
		name := m.Name
		if m.refused != nil {
			name += fmt.Sprintf(" (refused: %v)", m.refused)
		}
		names = append(names, name)
	}
	if more := len(s.missing) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%d tasks are missing: %s; run again: parts %s of %d", len(s.missing),
		strings.Join(names, "; "), s.missingParts(), s.record.Parts)
}

// missingParts lists the parts that the missing tasks belong to.
func (s *Study) missingParts() string {
	var parts []int
	for _, m := range s.missing {
		parts = append(parts, m.Number%s.record.Parts)
	}
	slices.Sort(parts)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(parts)), " ", ", "), "[]")
}
