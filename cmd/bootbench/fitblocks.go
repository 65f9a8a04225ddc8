package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"bootbench/internal/answer"
	"bootbench/internal/batch"
	"bootbench/internal/retrain"
)

// blockResamples is the number of resamples in one task: a multiple of those that are
// trained together, so that they do not depend on which tasks are done.
const blockResamples = 2 * batch.BlockSize

// keptFit is the predictions of one resample, or why there are none.
type keptFit struct {
	F   []byte `json:",omitempty"` // of eight bytes each, little end first
	Why string `json:",omitempty"` // training did not converge
}

// fitKeeper looks up the fits of a run, a task of blockResamples at a time, and keeps those that it makes.
// Those of other shards it gives as zeros, for the answer is not this process's to give.
type fitKeeper struct {
	tasks     *tasks
	key, name string
	inputs    int // predictions of a fit
	mutex     sync.Mutex
	known     map[int][]keptFit // by number of the task: looked up, and some not asked for yet
	asked     map[int]int       // fits of it that were
	making    []keptFit         // of task number
	number    int
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
	k := &fitKeeper{tasks: &a.tasks, key: key, name: data, inputs: inputs, known: map[int][]keptFit{},
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
	case at >= len(block):
		return false, nil
	case block[at].Why != "":
		return true, &retrain.UnconvergedError{Err: errors.New(block[at].Why)}
	}
	_, err = binary.Decode(block[at].F, binary.LittleEndian, f[:k.inputs])
	return err == nil, nil // a fit of another size is made again
}

// block is a task of the journal, held until all of it was asked for; nil: it is not there.
func (k *fitKeeper) block(number int) []keptFit {
	if k.known[number] == nil {
		var fits []keptFit
		if !k.tasks.Lookup(k.task(number), &fits) {
			return nil
		}
		k.known[number], k.asked[number] = fits, 0
	}
	block := k.known[number]
	if k.asked[number]++; k.asked[number] >= len(block) {
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
	fit := keptFit{}
	if why != nil {
		fit.Why = why.Error()
	} else {
		fit.F, _ = binary.Append(nil, binary.LittleEndian, f[:k.inputs]) // which fails for other types
	}
	k.making, k.number = append(k.making, fit), number
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
