package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
)

// Fits keeps the predictions of fits, resample 0 first, in a file beside the checkpoint.
// After a sealed line that says of what they are comes a record for each, with a checksum:
// a run that is killed loses the record that it was writing, no other. A nil Fits keeps
// nothing.
type Fits struct {
	file   *os.File
	record []byte // the last one
	head   int64
	kept   int  // fits that can be looked up
	next   int  // of the resamples to come, the one that the file goes on with
	failed bool // to write: the file ends there
	warn   func(texts ...string)
}

// fitsSeal marks the first line.
var fitsSeal = files.Seal{Kind: "fits", Schema: 1}

// fitsPath is the file beside a checkpoint.
func fitsPath(path string) string { return path + ".fits" }

// checkFits refuses a file in the place of fits that is none of ours.
func checkFits(path string) error {
	f, err := os.Open(fitsPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usage.Errorf("--checkpoint: %w", err)
	}
	defer f.Close()
	start := make([]byte, len("bootbench fits "))
	n, _ := io.ReadFull(f, start)
	if _, err := fitsSeal.Open(start[:n]); errors.Is(err, files.ErrForeign) {
		return usage.Errorf("--checkpoint: %s, where fits would be kept, %w, and is not replaced", fitsPath(path),
			err)
	}
	return nil
}

// Fits opens the file for fits that the key names, of width predictions each. What
// it holds of them is taken up where the checkpoint is, and is replaced else.
func (k *Keeper) Fits(key string, width int) (*Fits, error) {
	if k == nil {
		return nil, nil
	}
	file, err := os.OpenFile(fitsPath(k.path), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, usage.Errorf("--checkpoint: %w", err)
	}
	head := fitsSeal.Close(fmt.Appendf(nil, "%d %s\n", width, key))
	f := &Fits{file: file, head: int64(len(head)), record: make([]byte, 8*width+crc32.Size),
		warn: k.options.Warn}
	if err := f.take(head, k.found != nil); err != nil {
		return nil, errors.Join(usage.Errorf("--checkpoint: %w", err), file.Close())
	}
	if f.kept > 0 {
		k.options.Note("going on from %s: %d fits", fitsPath(k.path), f.kept)
	}
	return f, nil
}

// take counts the records that are whole and cuts off the rest.
func (f *Fits) take(head []byte, resume bool) error {
	found := make([]byte, len(head))
	if _, err := f.file.ReadAt(found, 0); resume && err == nil && bytes.Equal(found, head) {
		for f.read(f.kept) == nil {
			f.kept++
		}
		f.next = f.kept
		return f.file.Truncate(f.at(f.kept))
	}
	if err := f.file.Truncate(0); err != nil {
		return err
	}
	_, err := f.file.WriteAt(head, 0)
	return err
}

// at is where the record of resample b begins.
func (f *Fits) at(b int) int64 { return f.head + int64(b)*int64(len(f.record)) }

// read reads a record into f.record.
func (f *Fits) read(b int) error { return f.readInto(f.record, b) }

func (f *Fits) readInto(record []byte, b int) error {
	if _, err := f.file.ReadAt(record, f.at(b)); err != nil {
		return err
	}
	if body := record[:len(record)-crc32.Size]; crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(
		record[len(body):]) {
		return files.ErrDamaged
	}
	return nil
}

// Lookup overwrites f with the predictions of resample b where they were kept by an earlier
// run: see retrain.Settings. It is safe for concurrent use.
func (f *Fits) Lookup(b int, predictions []float64) (known bool, err error) {
	if f == nil || b >= f.kept {
		return false, nil
	}
	record := make([]byte, len(f.record))
	if err := f.readInto(record, b); err != nil {
		return false, fmt.Errorf("the fits beside the checkpoint: %w", err)
	}
	for i := range predictions {
		predictions[i] = math.Float64frombits(binary.LittleEndian.Uint64(record[8*i:]))
	}
	return true, nil
}

// Add keeps the predictions of resample b, in the order of b. The user hears of a failure
// to write; the run goes on.
func (f *Fits) Add(b int, predictions []float64) {
	if f == nil || f.failed || b != f.next {
		return
	}
	record := f.record[:0]
	for _, v := range predictions {
		record = binary.LittleEndian.AppendUint64(record, math.Float64bits(v))
	}
	record = binary.LittleEndian.AppendUint32(record, crc32.ChecksumIEEE(record))
	if _, err := f.file.WriteAt(record, f.at(b)); err != nil {
		f.failed = true
		f.warn(fmt.Sprintf("--checkpoint: %v; %d fits are kept, the next ones are not", err, f.next))
		return
	}
	f.next++
}

// Close ends the file.
func (f *Fits) Close() {
	if f == nil {
		return
	}
	f.file.Sync() // a failure of the machine apart nothing depends on it
	f.file.Close()
}
