package journal

import (
	"bootbench/cmd/bootbench/internal/usage"

	"strconv"
	"strings"
)

// ParseShard reads "I/N", or for "auto" what the scheduler says in the environment.
func ParseShard(text string, shards int, environment func(string) (string, bool)) (index, count int,
	err error) {
	if text == "auto" {
		return scheduled(shards, environment)
	}
	if shards != 0 {
		return 0, 0, usage.Errorf("--shards is for --shard auto")
	}
	first, second, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	count, err2 := strconv.Atoi(second)
	if !ok || err1 != nil || err2 != nil || count < 1 || index < 0 || index >= count {
		return 0, 0, usage.Errorf("--shard %q is not I/N with I from 0 to N-1, and not auto", text)
	}
	return index, count, nil
}

// scheduler is a batch system that numbers its processes in the environment.
type scheduler struct{ index, first, count string }

// schedulers are Slurm's array jobs, Kubernetes' indexed Jobs (which do not tell
// their number) and Open MPI's ranks.
var schedulers = []scheduler{
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"},
	{"JOB_COMPLETION_INDEX", "", ""},
	{"OMPI_COMM_WORLD_RANK", "", "OMPI_COMM_WORLD_SIZE"},
}

// scheduled is the part that the first scheduler in the environment names. Where
// the number of parts is given, its number is the part: an array of Slurm may then
// run some of the parts again.
func scheduled(shards int, environment func(string) (string, bool)) (index, count int, err error) {
	number := func(name string, otherwise int) int {
		text, _ := environment(name)
		v, wrong := strconv.Atoi(text)
		if wrong != nil {
			return otherwise
		}
		return v
	}
	for _, sc := range schedulers {
		if _, ok := environment(sc.index); !ok {
			continue
		}
		index, count := number(sc.index, -1), shards
		if shards == 0 {
			index, count = index-number(sc.first, 0), number(sc.count, 0)
		}
		if count < 1 || index < 0 || index >= count {
			return 0, 0, usage.Errorf("--shard auto: %s makes this part %d of %d; --shards gives their number",
				sc.index, index, count)
		}
		return index, count, nil
	}
	return 0, 0, usage.Errorf(
		"--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX nor OMPI_COMM_WORLD_RANK is set")
}
