#!/bin/bash
# Runs the array script of doc/cluster.md under a real Slurm on this one machine:
# all parts, then with parts killed and run again; the mpirun line and the
# Kubernetes Job beside it; and one solve whose low-rank factor two ranks of a Slurm job share.
# Each study must merge to the answer of one process, in every digit; the shared solve must have that of one
# process to rounding. The Job is not run: kubectl must know all of its fields, and its
# command is run once for every index.
#
#   sudo scripts/slurm-test.sh
#
# Needs root, Go, and Debian's slurm-wlm, munge, python3-yaml and what make mpi installs;
# without kubectl the Job is left out. The daemons run on files in a temporary
# folder and are ended again; /etc stays as it is. Takes two minutes.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
examples=$root/doc/examples
work=$(mktemp -d)
chmod 755 "$work"
pids=()

finish() {
	status=$?
	if [ -f "$work/slurm.conf" ]; then # never a job of another Slurm on this machine
		SLURM_CONF=$work/slurm.conf scancel --user=root 2>/dev/null || true
	fi
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	if [ "$status" != 0 ]; then
		tail -n 5 "$work"/*.log "$work"/*/slurm-*.out >&2 2>/dev/null || true
		echo "FAILED" >&2
	fi
	rm -rf "$work"
}
trap finish EXIT
# Signals end the script too, through finish.
trap 'exit 130' INT TERM

# daemon starts a program in the background and keeps its number for finish.
daemon() { "$@" >>"$work/$1.log" 2>&1 & pids+=("$!"); }

# until_true waits for a command to succeed, a minute at most.
until_true() {
	for _ in $(seq 120); do
		if "$@" >/dev/null 2>&1; then return; fi
		sleep 0.5
	done
	echo "waited in vain for: $*" >&2
	return 1
}

start_slurm() {
	head -c 1024 /dev/urandom >"$work/munge.key"
	chmod 400 "$work/munge.key"
	daemon munged --foreground --force --socket="$work/munge.socket" --key-file="$work/munge.key" \
		--pid-file="$work/munged.pid" --seed-file="$work/munge.seed" --log-file="$work/munge-own.log"
	until_true munge --socket="$work/munge.socket" --no-input
	mkdir "$work/state" "$work/spool"
	cat >"$work/slurm.conf" <<-CONF
		ClusterName=test
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$work/munge.socket
		SlurmctldPort=16817
		SlurmdPort=16818
		StateSaveLocation=$work/state
		SlurmdSpoolDir=$work/spool
		SlurmctldPidFile=$work/slurmctld.pid
		SlurmdPidFile=$work/slurmd.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		ReturnToService=2
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
		NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES MaxTime=1:00:00 State=UP
	CONF
	export SLURM_CONF=$work/slurm.conf
	daemon slurmctld -D -i
	until_true scontrol ping
	daemon slurmd -D
	until_true bash -c 'sinfo --noheader --format=%T | grep -q idle'
}

# state prints the state of a task of an array.
state() { scontrol show job "$1_$2" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p' | head -1; }

# ended waits until no task of a job is left.
ended() { [ -z "$(squeue --noheader --job="$1" 2>/dev/null)" ]; }
await() {
	for _ in $(seq 600); do
		if ended "$1"; then return; fi
		sleep 0.5
	done
	echo "job $1 does not end" >&2
	return 1
}

# folder makes a folder with the data, as a user's, and goes there.
folder() {
	mkdir "$work/$1"
	cp "$work/big.csv" "$work/$1"
	cd "$work/$1"
}

# same compares an answer with that of one process with so many threads, but for
# times and memory.
same() {
	alone=$work/alone/$3.json
	for file in "$alone" "$1"; do
		python3 - "$file" <<-'PYTHON' >"$file.kept"
			import json, sys
			answer = json.load(open(sys.argv[1]), parse_float=str)
			for name in "time", "memory", "backend", "workers", "fit_s":
			    answer.pop(name)
			json.dump(answer, sys.stdout, indent=1, sort_keys=True)
		PYTHON
	done
	cmp "$alone.kept" "$1.kept"
	echo "ok: $2: $(wc -c <"$1.kept") bytes as one process has them"
}

# kill_part waits for a task's bootbench and kills it with no chance to tidy up.
kill_part() {
	for _ in $(seq 600); do
		for pid in $(pgrep -x bootbench || true); do
			if grep -zqx "SLURM_CONF=$work/slurm.conf" "/proc/$pid/environ" 2>/dev/null &&
				grep -zqx "SLURM_ARRAY_TASK_ID=$1" "/proc/$pid/environ" 2>/dev/null; then
				kill -9 "$pid" && return
			fi
		done
		sleep 0.02
	done
	echo "part $1 never ran" >&2
	return 1
}

go build -C "$root" -tags "${TAGS-openblas,mpi}" -o "$work/bin/bootbench" ./cmd/bootbench
export PATH=$work/bin:$PATH
python3 - >"$work/big.csv" <<'PYTHON'
import random
draw = random.Random(7)
print("a,b,c,y")
for _ in range(700):
    x = [draw.gauss(0, 1) for _ in range(3)]
    y = 1 if x[0] * x[1] + x[2] + draw.gauss(0, 1) > 0 else -1
    print(*("%.6f" % v for v in x), y, sep=",")
PYTHON
start_slurm
sinfo

folder alone
for threads in 1 2; do # with another number the last digits of the kernel differ
	bootbench retrain big.csv --loss hinge --C 1 --resamples 4000 --method single --threads $threads --quiet --json $threads.json >/dev/null
done

folder array
job=$(sbatch --parsable "$examples/array.sbatch")
await "$job"
bootbench merge study --threads 2 --quiet --json merged.json >/dev/null
same merged.json "an array of 16" 2
cd /
bootbench merge "$work/array/study" --threads 2 --quiet --json "$work/array/elsewhere.json" >/dev/null
same "$work/array/elsewhere.json" "merged from another folder" 2

folder killed
job=$(sbatch --parsable "$examples/array.sbatch")
scancel "${job}_11"
kill_part 5
await "$job"
echo "part 5: $(state "$job" 5)"
if bootbench merge study --quiet >merged.txt 2>merged.err; then
	echo "merge takes a study that lacks parts" >&2
	exit 1
fi
cat merged.err
grep -q 'shards 5, 11 of 16' merged.err
again=$(sbatch --parsable --array=5,11 "$examples/array.sbatch")
await "$again"
bootbench merge study --threads 2 --quiet --json merged.json >/dev/null
same merged.json "an array with part 5 killed and part 11 cancelled, both run again" 2

folder ranks
env -u SLURM_CONF OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
	sh "$examples/mpirun.sh"
bootbench merge study --threads 1 --quiet --json merged.json >/dev/null
same merged.json "4 ranks of mpirun" 1

folder shared
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
job=$(sbatch --parsable "$examples/lowrank.sbatch")
await "$job"
bootbench estimate big.csv --loss hinge --C 1 --engine lowrank --refine 100 --quiet --json alone.json >/dev/null
python3 - answer.json alone.json <<-'PYTHON'
	import json, sys
	shared, alone = (json.load(open(name)) for name in sys.argv[1:])
	assert shared["engine"] == "lowrank" and shared["rank"] == alone["rank"]
	for one, other, off in (shared, alone, 1e-6), (shared["refined"], alone["refined"], 1e-3):
	    assert abs(one["test_error"] / other["test_error"] - 1) < off, (one["test_error"], other["test_error"])
	print(f"ok: two ranks share a factor of rank {shared['rank']}: left-out error {shared['test_error']:.8g}, of one process {alone['test_error']:.8g}")
PYTHON

folder job
if command -v kubectl >kubectl.txt; then
	kubectl set image --local --filename "$examples/job.yaml" part=changed --output json >known.json
	python3 - "$examples/job.yaml" known.json >command.txt <<-'PYTHON'
		import json, shlex, sys, yaml
		manifest, known = yaml.safe_load(open(sys.argv[1])), json.load(open(sys.argv[2]))
		container = known["spec"]["template"]["spec"]["containers"][0]
		container["image"] = "bootbench"  # without a change kubectl prints nothing
		def within(part, whole, path):
		    if isinstance(part, dict):
		        for name, value in part.items():
		            if name not in whole:
		                sys.exit(f"{path}.{name} is not a field that kubectl knows")
		            within(value, whole[name], f"{path}.{name}")
		    elif isinstance(part, list):
		        for i, value in enumerate(part):
		            within(value, whole[i], f"{path}[{i}]")
		    elif part != whole:
		        sys.exit(f"{path} is {part!r}, for kubectl {whole!r}")
		within(manifest, known, "")
		assert known["spec"]["completionMode"] == "Indexed"
		print(known["spec"]["completions"])
		print(shlex.join(container["command"]))
	PYTHON
	completions=$(sed -n 1p command.txt)
	for index in $(seq 0 $((completions - 1))); do
		JOB_COMPLETION_INDEX=$index sh -c "$(sed -n 2p command.txt)" >>parts.txt
	done
	bootbench merge study --threads 2 --quiet --json merged.json >/dev/null
	same merged.json "the command of the Kubernetes Job, $completions times" 2
fi
