#!/bin/sh
# Renews the table and the picture of doc/accuracy.md; the prose above stays.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
./bootbench accuracy --out "$out/survey" > "$out/table"
cp "$out/survey/accuracy.svg" doc/pictures/accuracy.svg
{
	sed '/^```$/,$d' doc/accuracy.md
	echo '```'
	grep -v '^seconds\|^memory' "$out/table"
	echo '```'
} > "$out/page"
cp "$out/page" doc/accuracy.md
