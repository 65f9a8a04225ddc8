#!/bin/sh
# The batteries of doc/reliability.md at full length, and every fuzz target for a while
# (SOAK_FUZZ, default 4m each). A long run: about an hour on two cores.
set -eu
export BOOTBENCH_SOAK=1
go test -tags openblas -timeout 3h -v -run 'TestMalformed|TestKilled|TestInterrupted|TestAddressSpace' ./cmd/bootbench
go test -tags openblas -timeout 3h -v -run TestFixedPointAnew ./solver
sh scripts/fuzz.sh "${SOAK_FUZZ:-4m}"
bash scripts/flaky.sh
