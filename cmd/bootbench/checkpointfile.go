package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bootbench/loss"
	"bootbench/report"
	"bootbench/solver"
)

// A checkpoint is a file of two lines. The first is
//
//	bootbench checkpoint VERSION LENGTH SHA256
//
// with the number of bytes after it and their checksum; the second is a JSON
// document, whose numbers read back to the same bits.
const (
	checkpointMagic   = "bootbench checkpoint "
	checkpointVersion = 1
	longestHead       = 200 // bytes of the first line at most
)

// checkpointDocument is what a checkpoint holds.
type checkpointDocument struct {
	Data     dataPrint          `json:"data"`
	Settings []setting          `json:"settings"`
	Results  []*report.Estimate `json:"results,omitempty"` // of curve: the ratios that are finished
	From     *neighbour         `json:"from,omitempty"`    // of curve: the solution that the next ratio starts from
	State    *solver.State      `json:"state,omitempty"`   // of the solve in progress
}

// dataPrint tells one data set from another.
type dataPrint struct {
	Name   string `json:"name"`
	N      int    `json:"n"`
	D      int    `json:"d"`
	Digest string `json:"digest"`
}

// setting is something that decides what is solved.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// neighbour is what a solve takes from the solution of a neighbouring problem.
type neighbour struct {
	D      []float64     `json:"d"`
	Cavity []loss.Cavity `json:"cavity"`
}

// encode is the checkpoint with its first line.
func (d *checkpointDocument) encode() ([]byte, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return append(checkpointHead(body), body...), nil
}

// checkpointHead is the first line for what comes after it.
func checkpointHead(body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s%d %d %s\n", checkpointMagic, checkpointVersion, len(body), hex.EncodeToString(sum[:]))
}

// Why a file is not taken for a checkpoint.
var (
	errNoCheckpoint = errors.New("is no checkpoint of bootbench")
	errCutShort     = errors.New("is cut short")
	errDamaged      = errors.New("is damaged: its checksum does not fit")
)

// decodeCheckpoint reads a checkpoint that is whole, or says why it is not.
func decodeCheckpoint(content []byte) (*checkpointDocument, error) {
	if !bytes.HasPrefix(content, []byte(checkpointMagic)) {
		if bytes.HasPrefix([]byte(checkpointMagic), content) {
			return nil, errCutShort
		}
		return nil, errNoCheckpoint
	}
	line, body, whole := bytes.Cut(content, []byte("\n"))
	if !whole && len(content) < longestHead {
		return nil, errCutShort
	}
	fields := bytes.Fields(line[len(checkpointMagic):])
	if len(fields) != 3 {
		return nil, errDamaged
	}
	version, err1 := strconv.Atoi(string(fields[0]))
	length, err2 := strconv.Atoi(string(fields[1]))
	switch {
	case err1 != nil || err2 != nil:
		return nil, errDamaged
	case version != checkpointVersion:
		return nil, fmt.Errorf("is of version %d, this program reads version %d", version, checkpointVersion)
	case len(body) < length:
		return nil, errCutShort
	case !bytes.Equal(content[:len(line)+1], checkpointHead(body)):
		return nil, errDamaged
	}
	d := &checkpointDocument{}
	if err := json.Unmarshal(body, d); err != nil {
		return nil, errDamaged
	}
	return d, nil
}

// Names of unfinished checkpoints, beside the file.
func partialPrefix(path string) string { return "." + filepath.Base(path) + "-" }

const partialSuffix = ".partial"

// replaceFile puts content in the place of a file, so that at every moment,
// should the machine fail, the file is there with its old content or all of the new.
func replaceFile(path string, content []byte) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, partialPrefix(path)+"*"+partialSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// syncFolder makes a rename outlast a failure of the machine. Not every file system
// can, and the file is in its place all the same: there is no error.
func syncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		f.Sync()
		f.Close()
	}
}

// clearPartial removes what runs that were killed while writing have left.
func clearPartial(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, partialPrefix(path)) && strings.HasSuffix(name, partialSuffix) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
