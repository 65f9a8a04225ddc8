#!/bin/sh
# Formatting, vet and staticcheck, for both builds.
set -eu
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "gofmt would change: $unformatted" >&2
	exit 1
fi
for tags in "" openblas; do
	go vet -tags "$tags" ./...
	go run "$staticcheck" -tags "$tags" ./...
done
go mod verify
