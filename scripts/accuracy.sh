#!/bin/sh
# Renews the table and the picture of doc/accuracy.md; the prose above and the section on low rank stay.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go run -tags openblas ./cmd/experiments accuracy -out "$out/survey" > "$out/table"
cp "$out/survey/accuracy.svg" doc/pictures/accuracy.svg
{
	sed '/^```$/,$d' doc/accuracy.md
	echo '```'
	sed '/^accuracy.svg/,$d' "$out/table"
	printf '```\n\n'
	sed -n '/^# The low-rank engine/,$p' doc/accuracy.md
} > "$out/page"
cp "$out/page" doc/accuracy.md
