#!/bin/bash
# Runs the short tests N times (default 15), shuffled, over the kernels that OpenBLAS can be told to take on this
# processor and over 1, 2 and 4 processors, every third run beside a load of all processors; then 20 times the tests
# that touch products of blocks, journals or interrupts. It prints a line for each failure.
#
#   scripts/flaky.sh [N]
set -u
cd "$(dirname "$0")/.."
runs=${1:-15}
log=$(mktemp)
trap 'rm -f "$log"; kill $load 2>/dev/null' EXIT
load=
cores="default Haswell Zen Nehalem"
grep -q avx512f /proc/cpuinfo && cores="$cores SkylakeX"
set -- $cores
failed=0

report() { # what ran
	if grep -q '^FAIL\|^panic' "$log"; then
		failed=$((failed + 1))
		echo "$1: $(grep -E '^--- FAIL|^panic|^FAIL' "$log" | cut -c1-90 | sort -u | head -5 | tr '\n' ';')"
	fi
}

for run in $(seq 1 "$runs"); do
	core=$1
	shift
	set -- "$@" "$core"
	procs=$((1 << run % 3))
	if [ $((run % 3)) = 0 ]; then
		for _ in $(seq "$(nproc)"); do while :; do :; done & load="$load $!"; done
	fi
	[ "$core" = default ] && unset OPENBLAS_CORETYPE || export OPENBLAS_CORETYPE=$core
	GOMAXPROCS=$procs OPENBLAS_NUM_THREADS=1 go test -tags openblas -short -count=1 -shuffle=on ./... >"$log" 2>&1
	report "run $run, kernels $core, GOMAXPROCS=$procs"
	[ -n "$load" ] && kill $load 2>/dev/null
	load=
done
unset OPENBLAS_CORETYPE
go test -tags openblas -short -count=20 -run 'Same|Block|Journal|Interrupt|Killed|Shard|Product|Narrow' \
	./fits ./linalg ./cmd/bootbench/... >"$log" 2>&1
report "20 repeats of products, journals and interrupts"
[ "$failed" = 0 ]
