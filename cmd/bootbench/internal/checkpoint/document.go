// Package checkpoint keeps a solve, or a row of them, in a file, and takes it up
// again.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
	"bootbench/tune"
)

// seal marks a checkpoint: after its first line comes a JSON document, whose numbers
// read back to the same bits.
var seal = files.Seal{Kind: "checkpoint", Schema: 2}

// Document is what a checkpoint holds.
type Document struct {
	Version  string             `json:"version"` // of the program
	Data     Data               `json:"data"`
	Settings model.Fingerprint  `json:"settings"`
	Results  []*report.Estimate `json:"results,omitempty"` // of curve: the ratios that are finished
	// of curve: the solution that the next ratio starts from
	From   *Start            `json:"from,omitempty"`
	Judged []tune.Evaluation `json:"judged,omitempty"` // of tune: the models so far
	State  *solver.State     `json:"state,omitempty"`  // of the solve in progress
}

// Data tells one data set from another.
type Data struct {
	Name   string `json:"name"`
	N      int    `json:"n"`
	D      int    `json:"d"`
	Digest string `json:"digest"`
}

// Start is what a solve takes from the solution of a neighbouring problem.
type Start struct {
	D      []float64     `json:"d"`
	Cavity []loss.Cavity `json:"cavity"`
}

// encode is the content of the file.
func (d *Document) encode() ([]byte, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return seal.Close(append(body, '\n')), nil
}

// decode reads a checkpoint that is whole, or says why it is not.
func decode(content []byte) (*Document, error) {
	body, err := seal.Open(content)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if err := json.Unmarshal(body, d); err != nil {
		return nil, files.ErrDamaged
	}
	return d, nil
}

// mayReplace refuses content that is no checkpoint.
func mayReplace(content []byte) error {
	if _, err := decode(content); errors.Is(err, files.ErrForeign) {
		return err
	}
	return nil
}

// progress says how far a checkpoint has come.
func (d *Document) progress() string {
	var parts []string
	if len(d.Results) > 0 {
		parts = append(parts, fmt.Sprintf("%d ratios are finished", len(d.Results)))
	}
	if len(d.Judged) > 0 {
		parts = append(parts, fmt.Sprintf("%d models are judged", len(d.Judged)))
	}
	if d.State != nil {
		parts = append(parts, fmt.Sprintf("sweep %d, residual %.1e", d.State.Stats.Sweeps, d.State.Residual))
	}
	return strings.Join(parts, ", ")
}
