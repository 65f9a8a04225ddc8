#!/bin/sh
# Runs the benchmarks once, at small sizes. Fails if one prints fewer lines than it should, or if a table of
# BENCHMARKS.md has a row, apart from its n, that none of them prints.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT
while read -r package name pattern least; do
	go test -tags openblas -run '^$' -bench "^Benchmark$name\$/$pattern" -benchtime 1x "./$package" > "$out.one" ||
		{ cat "$out.one" >&2; exit 1; }
	lines=$(grep -c "^Benchmark$name/" "$out.one" || true)
	if [ "$lines" -lt "$least" ]; then
		echo "Benchmark$name of ./$package prints $lines lines of at least $least" >&2
		exit 1
	fi
	cat "$out.one" >> "$out"
done <<'END'
blas Kernel ././n=(250|500)$ 8
kernel Gram ././n=(250|500)$ 8
linalg Refresh ./././n=500$ 3
linalg Update ././n=500$ 6
linalg Diagonal ././n=500$ 3
solver Steps ./././n=[245]..$ 27
END
sed -n 's/^Benchmark\([^ ]*\)\/n=.*/\1/p' "$out" | sort -u > "$out.printed"
sed -n 's/^| \([A-Z][A-Za-z]*\/[^ ]*\)\/n=[0-9]* |.*/\1/p' BENCHMARKS.md | sort -u > "$out.tables"
stale=$(comm -13 "$out.printed" "$out.tables")
if [ -n "$stale" ]; then
	echo "no benchmark prints these rows of BENCHMARKS.md: $stale" >&2
	exit 1
fi
