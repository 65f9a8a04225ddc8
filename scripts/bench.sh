#!/bin/sh
# Runs the benchmarks and renews the tables of BENCHMARKS.md, each between its
# markers <!-- begin NAME --> and <!-- end NAME -->, and its pictures. The prose stays.
# About ten minutes on two cores. BENCH_TIME (default 1s) is go test's -benchtime;
# BOOTBENCH_DATA, if set, a folder with california.csv and pumadyn8nm.csv.
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

# Puts the file $2 between the markers of $1.
renew() {
	awk -v name="$1" -v file="$2" '
	$0 == "<!-- begin " name " -->" { print; while ((getline line < file) > 0) print line; skip = 1 }
	$0 == "<!-- end " name " -->" { skip = 0 }
	!skip { print }' BENCHMARKS.md > "$out/new" && cp "$out/new" BENCHMARKS.md
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

echo "kernels" >&2
bench ./blas . openblas "$out/kernels.txt"
echo "refresh and steps" >&2
bench ./linalg 'Step|Single' openblas "$out/linalg.txt"
time=7x bench ./linalg Refresh openblas "$out/linalg.txt"
time=6x bench ./linalg Update openblas "$out/linalg.txt"
time=7x bench ./linalg Refresh "" "$out/linalg.txt"
echo "fits and solves" >&2
bench ./gp Fit openblas "$out/fits.txt"
bench ./solver Solve openblas "$out/solve.txt"
go test -tags openblas -run '^$' -bench 'Breadth/./n=(500|1000|2000)/gammad=(0.01|0.05|0.2)/noise=0.1' -benchtime 3x ./bench > "$out/breadth.txt"
bench ./svm 'BenchmarkTrain|NewTrainer' openblas "$out/svm.txt"
go test -tags openblas -run '^$' -bench Grid -benchtime 1x ./solver > "$out/grid.txt"
go test -tags openblas -run '^$' -bench 'Survey/./steps=mixed' -benchtime 1x ./solver > "$out/survey.txt"
echo "theory against retraining" >&2
{
	echo '```'
	"$out/bootbench" compare --sizes 250,500,1000,2000,4000 --quiet --out "$out/claim"
	echo '```'
} > "$out/compare"
{
	echo '```'
	"$out/bootbench" compare --sizes 250,500,1000,2000 --tol 1e-3 --resamples 50 --quiet
	echo '```'
} > "$out/compare-coarse"

{
	echo '```'
	for set in crabs:200 wisconsin:683 sonar:208 pima:532; do
		"$out/bootbench" compare "${set%:*}" --sizes "${set#*:}" --ratio 0.1,0.3,1,3,5 --resamples 1000 --quiet | grep -v '^$' | tail -n +7
	done
	echo '```'
} > "$out/margins"

echo "leave-one-out" >&2
{
	echo '```'
	for set in sonar pima crabs wisconsin; do
		echo "$set, gamma 1/d, C = 1"
		"$out/bootbench" loo "$set" --loss hinge --C 1 --kernel rbf --gamma "$(case $set in sonar) echo 0.0166667;; pima) echo 0.142857;; crabs) echo 0.2;; *) echo 0.111111;; esac)" --method all --quiet | grep -A5 '^method'
		echo
	done
	echo '```'
} > "$out/loo"
echo "large N" >&2
{
	echo '```'
	"$out/bootbench" scale --exact 5000 --lowrank 50000 --quiet --out "$out/large"
	echo '```'
} > "$out/scale"

picture claim/compare-friedman1-time speed-claim
picture large/scale speed-scale

table Kernel "$out/kernels.txt" > "$out/kernels"
table "Refresh|Single" "$out/linalg.txt" > "$out/refresh"
table Step "$out/linalg.txt" > "$out/steps"
table Update "$out/linalg.txt" > "$out/updates"
table Fit "$out/fits.txt" > "$out/fits"
table Solve "$out/solve.txt" > "$out/solve"
table Breadth "$out/breadth.txt" > "$out/breadth"
table 'Train|NewTrainer' "$out/svm.txt" > "$out/train"
table Grid "$out/grid.txt" > "$out/grid"
table Survey "$out/survey.txt" > "$out/survey"
for name in machine kernels refresh steps updates fits solve breadth train grid survey margins compare compare-coarse loo scale; do
	renew "$name" "$out/$name"
done
