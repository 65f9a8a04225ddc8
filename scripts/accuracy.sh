#!/bin/sh
# Renews doc/accuracy.csv and the picture of doc/accuracy.md, and prints the summary; the page's tables are prose.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go run -tags openblas ./cmd/experiments accuracy -out "$out"
cp "$out/accuracy.csv" doc/accuracy.csv
cp "$out/accuracy.svg" doc/pictures/accuracy.svg
