#!/bin/sh
# Strong and weak scaling of the low-rank engine over the ranks of mpirun on one machine:
# the table of doc/cluster.md. Run it on an idle machine; more ranks than processors say
# nothing about time.
#
#   scripts/rank-scaling.sh [N [P...]]      (default: 200000 examples on 1 2 4 ranks)
#
# Each rank has one thread. The first lines are one process with as many threads instead. Times are
# rank 0's by the clock: of the factor, of the solve, and of all but reading; memory is its peak.
set -eu
cd "$(dirname "$0")/.."
n=${1:-200000}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 1 2 4
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -tags openblas,mpi -o "$out/bootbench" ./cmd/bootbench

# line LABEL N COMMAND...: one row of the table.
line() {
	label=$1 examples=$2
	shift 2
	"$@" "$out/bootbench" estimate "synthetic:waves,n=$examples,d=8,seed=1" --loss square --noise 10% --gamma 0.02 \
		--engine lowrank --max-rank 200 --refine none --no-points --quiet --threads "$threads" --json "$out/answer.json" >/dev/null 2>&1 || [ $? = 3 ] # the rank is that of all rows, not the one that the error asks for
	python3 - "$label" "$examples" "$out/answer.json" <<'PYTHON'
import json, sys
label, examples, a = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3]))
t = a["time"]
print(f"{label:24} n={examples:8} rank={a['rank']:4} factor {t['gram']:6.2f} s  solve {t['solve']:6.2f} s  all {t['total']-t['read']:6.2f} s  "
      f"memory {a['memory']['peak_bytes']/2**20:6.0f} MiB  error {a['test_error']:.6g}", flush=True)
PYTHON
}

mpi="mpirun --allow-run-as-root --oversubscribe --bind-to none --quiet -np"
for count in "$@"; do
	threads=$count
	line "$count threads" "$n" env OPENBLAS_NUM_THREADS="$count"
done
threads=1
for count in "$@"; do
	line "$count ranks, strong" "$n" env OPENBLAS_NUM_THREADS=1 $mpi "$count"
done
for count in "$@"; do
	line "$count ranks, weak" $((n / 4 * count)) env OPENBLAS_NUM_THREADS=1 $mpi "$count"
done
