#!/bin/sh
# Prints the cells of doc/accuracy.md that compare the low-rank engine with the exact one:
# scripts/rank-accuracy.sh [BOOTBENCH [EXTRA-DATA...]]. Files are data of your own, numbers.
set -eu
bootbench=${1:-./bootbench}
[ $# -gt 0 ] && shift

# number KEY FILE: the first number of that key.
number() { sed -n "s/.*\"$1\": *\([-0-9.e+]*\).*/\1/p" "$2" | head -1; }

# cell NAME DATA GAMMA-D D LABEL FLAGS...: one line of the table; said is what the program
# states as the change, for $goal, the flags of the goal.
goal=
cell() {
	name=$1 data=$2 gd=$3 d=$4 label=$5
	shift 5
	gamma=$(awk "BEGIN { print $gd / $d }")
	run() { "$bootbench" estimate "$data" --kernel rbf --gamma "$gamma" --refine none --no-points --quiet --json - "$@" 2>/dev/null || true; }
	run --engine exact "$@" >"$tmp/exact"
	run --engine "$engine" $goal "$@" >"$tmp/low"
	awk -v name="$name" -v gd="$gd" -v label="$label" -v e="$(number test_error "$tmp/exact")" -v l="$(number test_error "$tmp/low")" \
		-v said="$(number rank_error "$tmp/low")" -v rank="$(number rank "$tmp/low")" -v n="$(number n "$tmp/low")" \
		-v status="$(sed -n 's/.*"status": *"\([^"]*\)".*/\1/p' "$tmp/low" | head -1)" 'BEGIN {
		off = (e == 0) ? 0 : (l - e) / e; a = off < 0 ? -off : off
		printf "%-12s %6d  %-14s %7g %6s %12.5g %9.3f%% %9s  %s\n", name, n, label, gd, rank == "" ? "-" : rank, e, 100 * off, \
			said == "" ? "-" : sprintf("%.2f%%", 100 * said), status }'
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '%-12s %6s  %-14s %7s %6s %12s %10s %9s  %s\n' data n loss 'gamma d' rank exact 'low rank' said status
engine=lowrank
# Stated over true error: the table of sets, kernels, noises and goals.
for set in "waves 2 5" "waves 4 6" "waves 8 7" "friedman1 10 8" "grid 3 9"; do
	set -- $set "$@"
	name=$1 d=$2 seed=$3
	shift 3
	for gd in 0.05 0.25 0.5; do
		for noise in 1% 10% 50%; do
			for error in 3% 1% 0.3%; do
				goal="--rank-error $error"
				cell $name "synthetic:$name,n=1500,d=$d,seed=$seed" $gd $d "$noise, $error" --loss square --noise $noise
			done
		done
	done
done
goal=
for noise in 0.1% 1% 10% 100%; do
	for gd in 0.01 0.05 0.25 1 4; do
		cell waves synthetic:waves,n=1000,seed=1,d=8,noise=0.1 $gd 8 "square $noise" --loss square --noise $noise
		cell friedman1 synthetic:friedman1,n=1000,seed=1 $gd 10 "square $noise" --loss square --noise $noise
		for file in "$@"; do
			cell "$(basename "$file" .csv)" "$file" $gd 8 "square $noise" --loss square --noise $noise
		done
	done
done
for set in "blobs 8" "rings 2" "checker 2"; do
	name=${set% *} d=${set#* }
	for gd in 0.05 0.25 1 4; do
		for loss in "hinge 1" "hinge 10" "logistic 1" "logistic 10"; do
			cell "$name" "synthetic:$name,n=1000,seed=1,d=$d" $gd "$d" "$loss" --loss ${loss% *} --C ${loss#* }
		done
	done
done
# The other losses, on smaller sets: likelihoods take their time.
for set in "waves 8" "friedman1 10"; do
	name=${set% *} d=${set#* }
	for gd in 0.05 0.25 1; do
		for loss in eps huber absolute; do
			cell "$name" "synthetic:$name,n=400,seed=1,d=$d" $gd "$d" "$loss" --loss $loss --C 10
		done
	done
done
for set in "blobs 8" "checker 2"; do
	name=${set% *} d=${set#* }
	for gd in 0.05 0.25 1; do
		for loss in hinge2 probit logit hard; do
			flags=
			[ $loss = hinge2 ] && flags="--C 10"
			cell "$name" "synthetic:$name,n=400,seed=1,d=$d" $gd "$d" "$loss" --loss $loss $flags
		done
	done
done
engine=auto
for gd in 0.04 0.16; do
	cell waves synthetic:waves,n=5300,seed=1,d=8,noise=0.1 $gd 8 "square 1%" --loss square --noise 1%
	cell friedman1 synthetic:friedman1,n=5300,seed=1 $gd 10 "square 1%" --loss square --noise 1%
	cell blobs synthetic:blobs,n=5300,seed=1,d=8 $gd 8 "hinge 1" --loss hinge --C 1
done
