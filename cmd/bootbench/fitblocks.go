package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"bootbench/internal/answer"
	"bootbench/internal/batch"
	"bootbench/internal/retrain"
)

// blockResamples is the number of resamples in one task: a multiple of those that are
// trained together, so that they do not depend on which tasks are done.
const blockResamples = 2 * batch.BlockSize

// fitBlock is the predictions of the resamples of one task, end to end. Where training did
// not converge, Skipped says why, and the predictions are zeros.
type fitBlock struct {
	F       []byte // of eight bytes each, little end first
	Skipped []skippedFit
}

type skippedFit struct {
	At  int // in the block
	Why string
}

// fitKeeper looks up the fits of a run and keeps those that it makes. Those of other
// shards it gives as zeros, for the answer is not this process's to give.
type fitKeeper struct {
	tasks     *tasks
	key, name string
	inputs    int
	mutex     sync.Mutex
	known     map[int]*fitBlock // looked up, and some of it not asked for yet
	asked     map[int]int       // resamples of it that were
	making    *fitBlock         // of the resample that was added last
	number    int               // of it
}

// keepFits opens the journal, if there is one, for the exact fits of a job.
func (a *app) keepFits(j *answer.Job, chosen choice) error {
	err := a.openJournal(chosen)
	if a.tasks.Journal != nil {
		j.Keep = a.keep
	}
	return err
}

// keep is answer.Keep: where a journal keeps fits.
func (a *app) keep(key string, inputs, resamples int, data string) answer.Fits {
	k := &fitKeeper{tasks: &a.tasks, key: key, name: data, inputs: inputs, known: map[int]*fitBlock{},
		asked: map[int]int{}}
	for number := range (resamples + blockResamples - 1) / blockResamples {
		first := number * blockResamples
		name := fmt.Sprintf("resamples %d to %d of %s", first+1, min(first+blockResamples, resamples), data)
		a.tasks.require(number, name, k.task(number))
	}
	return k
}

// Missing and Shared are those of answer.Fits.
func (k *fitKeeper) Missing() bool { return k.tasks.merging && len(k.tasks.missing) > 0 }
func (k *fitKeeper) Shared() bool  { return k.tasks.sharded() }

func (k *fitKeeper) task(number int) string {
	return keyOf(k.key, fmt.Sprintf("block %d of %d resamples", number, blockResamples))
}

// Lookup is retrain.Settings.Lookup.
func (k *fitKeeper) Lookup(b int, f []float64) (known bool, err error) {
	number, at := b/blockResamples, b%blockResamples
	k.mutex.Lock()
	defer k.mutex.Unlock()
	block := k.block(number)
	switch {
	case block == nil && k.tasks.merging:
		return false, fmt.Errorf("resample %d of %s is missing from the journal", b+1, k.name)
	case block == nil && !k.tasks.owns(number):
		clear(f)
		return true, nil
	case block == nil || 8*(at+1)*k.inputs > len(block.F):
		return false, nil
	}
	if i := slices.IndexFunc(block.Skipped, func(s skippedFit) bool { return s.At == at }); i >= 0 {
		return true, &retrain.UnconvergedError{Err: errors.New(block.Skipped[i].Why)}
	}
	_, err = binary.Decode(block.F[8*at*k.inputs:], binary.LittleEndian, f[:k.inputs])
	return err == nil, err
}

// block is a block of the journal, held until all of it was asked for.
func (k *fitKeeper) block(number int) *fitBlock {
	if !k.tasks.Has(k.task(number)) {
		return nil
	}
	block := k.known[number]
	if block == nil {
		block = &fitBlock{}
		if !k.tasks.Lookup(k.task(number), block) || len(block.F)%max(1, 8*k.inputs) != 0 {
			return nil
		}
		k.known[number] = block
	}
	if k.asked[number]++; 8*k.asked[number]*k.inputs >= len(block.F) {
		delete(k.known, number)
	}
	return block
}

// Add notes the predictions of resample b, in the order of b; why says why there are none.
func (k *fitKeeper) Add(b int, f []float64, why error) {
	number, at := b/blockResamples, b%blockResamples
	if !k.tasks.owns(number) || k.tasks.Has(k.task(number)) {
		return
	}
	if k.making == nil {
		k.making, k.number = &fitBlock{}, number
	}
	block := k.making
	row := make([]float64, k.inputs)
	if why != nil {
		block.Skipped = append(block.Skipped, skippedFit{at, why.Error()})
	} else {
		copy(row, f)
	}
	block.F, _ = binary.Append(block.F, binary.LittleEndian, row) // which fails for other types
	if at == blockResamples-1 {
		k.End()
	}
}

// End keeps the block whose last resample was added: one of blockResamples, or the last one, which may be
// shorter, of a run that was not interrupted.
func (k *fitKeeper) End() {
	if k.making != nil {
		k.tasks.Append(k.task(k.number), k.making)
		k.making = nil
	}
}
