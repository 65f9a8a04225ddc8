#!/bin/sh
# Formatting, vet and staticcheck, for both builds, and for that with MPI where it is installed.
set -eu
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
# A tab counts as 4 columns.
long=$(git ls-files "*.go" "*.c" "*.h" "*.s" | xargs awk '
	{ line = $0; gsub("\t", "    ", line) }
	length(line) > 110 { print FILENAME ":" FNR ": " $0 }')
if [ -n "$long" ]; then
	echo "$long" | cut -c1-150 >&2
	echo "the lines above are longer than 110 columns" >&2
	exit 1
fi
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "gofmt would change: $unformatted" >&2
	exit 1
fi
mpi=
pkg-config --exists ompi-c scalapack-openmpi 2>/dev/null && mpi=openblas,mpi
for tags in "" openblas $mpi; do
	go vet -tags "$tags" ./...
	go run "$staticcheck" -tags "$tags" ./...
done
go mod verify
