package journal

import (
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
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

// scheduled is the part that Slurm's array jobs or Kubernetes' indexed Jobs (which do not tell their number)
// name in the environment. Where the number of parts is given, the scheduler's number is the part: an array
// of Slurm may then run some of the parts again.
func scheduled(shards int, environment func(string) (string, bool)) (index, count int, err error) {
	number := func(name string, otherwise int) int {
		text, _ := environment(name)
		if v, err := strconv.Atoi(text); err == nil {
			return v
		}
		return otherwise
	}
	name, first := "SLURM_ARRAY_TASK_ID", number("SLURM_ARRAY_TASK_MIN", 0)
	if _, slurm := environment(name); !slurm {
		name, first = "JOB_COMPLETION_INDEX", 0
	} else if shards == 0 {
		shards = number("SLURM_ARRAY_TASK_COUNT", 0)
	} else {
		first = 0
	}
	if _, known := environment(name); !known {
		return 0, 0, usage.Errorf("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set")
	}
	index = number(name, -1) - first
	if shards < 1 || index < 0 || index >= shards {
		return 0, 0, usage.Errorf("--shard auto: %s makes this part %d of %d; --shards gives their number", name,
			index, shards)
	}
	return index, shards, nil
}
