#!/bin/sh
# Times a refresh on ranks beside the exact engine with as many threads, in one run
# on one machine: benchmark lines of Go, for benchstat, each of one round. Nothing else
# should run.
#
#   scripts/mpi-bench.sh [RANKS [ORDER [ROUNDS]]]      default: 2 6000 3
set -eu
cd "$(dirname "$0")/.."
ranks=${1-2}
export BOOTBENCH_ORDER="${2-6000}"
program=$(mktemp)
trap 'rm -f "$program"' EXIT
go test -c -tags openblas,mpi -o "$program" ./linalg
rounds=${3-3}
run() { # what starts the program
	"$@" "$program" -test.run '^$' -test.bench BenchmarkRanks -test.benchtime 1x -test.count "$rounds" | grep ^Benchmark
}
GOMAXPROCS=$ranks OPENBLAS_NUM_THREADS=$ranks run
run mpirun --allow-run-as-root --oversubscribe -np "$ranks"
