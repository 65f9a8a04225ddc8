#!/bin/sh
# Runs the benchmarks and renews the tables of BENCHMARKS.md, each between its
# markers <!-- begin NAME --> and <!-- end NAME -->, and its pictures. The prose stays.
# About ten minutes on two cores. BENCH_TIME (default 1s) is go test's -benchtime, ROWS the largest table.
set -eu
cd "$(dirname "$0")/.."
time=${BENCH_TIME:-1s}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -tags openblas -o "$out/bootbench" ./cmd/bootbench

# Turns go test's benchmark lines that match $1 into a table: name, time, metrics.
table() {
	awk -v pattern="$1" '
	$1 ~ /^Benchmark/ && $1 ~ pattern {
		name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
		cells = ""
		for (i = 3; i < NF; i += 2) {
			unit = $(i+1)
			if (unit == "B/op" || unit == "allocs/op") continue
			value = $i
			if (unit == "ns/op") { value = sprintf("%.3f", value / 1e6); unit = "ms" }
			if (!(unit in known)) { known[unit] = ++units; order[units] = unit }
			data[name, unit] = value
		}
		names[++rows] = name
	}
	END {
		head = "| benchmark |"; rule = "|---|"
		for (u = 1; u <= units; u++) { head = head " " order[u] " |"; rule = rule "---:|" }
		print head; print rule
		for (r = 1; r <= rows; r++) {
			line = "| " names[r] " |"
			for (u = 1; u <= units; u++) line = line " " data[names[r], order[u]] " |"
			print line
		}
	}' "$2"
}

# Puts the file $2 between the markers of $1 in BENCHMARKS.md, or in $3.
renew() {
	awk -v name="$1" -v file="$2" '
	$0 == "<!-- begin " name " -->" { print; while ((getline line < file) > 0) print line; skip = 1 }
	$0 == "<!-- end " name " -->" { skip = 0 }
	!skip { print }' "${3:-BENCHMARKS.md}" > "$out/new" && cp "$out/new" "${3:-BENCHMARKS.md}"
}

# The claims of compare, and of both of its tables the rows with the most examples of each data set.
largest() {
	awk '
	function rows() { for (i = 1; i <= count; i++) print row[order[i]]; count = 0; split("", row) }
	/^```/ { rows() }
	/^$/ { rows() }
	/^data / { tables++ }
	tables && !/^data / && /^[a-z]/ && match($0, /  +[0-9]/) {
		name = substr($0, 1, RSTART)
		if (!(name in row)) order[++count] = name
		row[name] = $0
		next
	}
	{ print }' "$1"
}

picture() { # figure that a command left under $out, name in doc/pictures
	cp "$out/$1.svg" "doc/pictures/$2.svg"
}

bench() { # package, pattern, tags, file
	go test -tags "$3" -run '^$' -bench "$2" -benchtime "$time" "$1" >> "$4"
}

{
	echo '```'
	"$out/bootbench" info
	echo '```'
} > "$out/machine"

echo "refresh and updates" >&2
time=5x bench ./linalg 'Refresh/.*/engine=exact/.*/n=(1000|2000|4000)$' openblas "$out/linalg.txt"
time=5x bench ./linalg 'Update/.*/.*/n=(1000|2000)$' openblas "$out/linalg.txt"
time=5x bench ./linalg 'Diagonal/.*/.*/n=(500|1000|2000)$' openblas "$out/linalg.txt"
echo "kernels" >&2
time=5x bench ./blas '^BenchmarkKernel$/././n=(500|2000)' openblas "$out/kernels.txt"
time=5x bench ./kernel '^BenchmarkGram$/kind=(rbf|linear)/./n=[14]000' openblas "$out/kernels.txt"
echo "steps" >&2
time=3x bench ./solver '^BenchmarkSteps$' openblas "$out/steps.txt"
echo "theory against retraining" >&2
{
	echo '```'
	"$out/bootbench" compare --quiet --out "$out/claim"
	echo '```'
} > "$out/compare"
largest "$out/compare" > "$out/readme"
renew compare "$out/readme" README.md
echo "large N" >&2
python3 scripts/growth.py "$out/bootbench" "${ROWS:-1000000}" doc/pictures/growth.svg > "$out/growth"

picture claim/compare-friedman1-time speed-claim

table Refresh "$out/linalg.txt" > "$out/refresh"
table Update "$out/linalg.txt" > "$out/updates"
table Diagonal "$out/linalg.txt" > "$out/diagonal"
table 'Kernel|Gram' "$out/kernels.txt" > "$out/kernels"
table Steps "$out/steps.txt" > "$out/steps"
for name in machine steps refresh updates diagonal kernels compare growth; do
	renew "$name" "$out/$name"
done
