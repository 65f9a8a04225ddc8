#!/bin/sh
# Every fuzz target for a time, or as many executions as 2000x says (default 5s each), one after the
# other, with all processors.
set -eu
time=${1:-5s}
grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$file"); do
		echo "$target"
		go test -tags openblas -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "$(dirname "$file")" </dev/null
	done
done
