#!/bin/sh
# Runs the tests of the distributed engines on real ranks, for each number of ranks
# given (default: 1 2 3 4), and the program itself: its answers and its faults.
#
#   scripts/mpi-test.sh [P...]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 1 2 3 4
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tags=openblas,mpi
for package in linalg/scalapack linalg cmd/bootbench; do
	go test -c -tags $tags -o "$out/$(basename $package).test" ./$package
done
go build -tags $tags -o "$out/bootbench" ./cmd/bootbench

# Open MPI refuses to start for root, and more ranks than processors, unless told.
ranks() {
	count=$1
	shift
	timeout 300 mpirun --allow-run-as-root --oversubscribe -np "$count" "$@"
}

for count in "$@"; do
	echo "== $count ranks"
	(cd linalg/scalapack && ranks "$count" "$out/scalapack.test" -test.failfast)
	(cd linalg && ranks "$count" "$out/linalg.test" -test.run 'ReadOuts|NewInputs|Sizes|FactorizeRefuses')
done

echo "== the program"
(cd cmd/bootbench && BOOTBENCH_MPI=$out/bootbench "$out/bootbench.test" -test.v -test.run ScaLAPACK)
