# bootbench: two commands set everything up on a fresh Debian or Ubuntu with Go:
#   make run    installs OpenBLAS when it is missing, builds, runs the main job
#   make test   the test suite without the long checks: all packages on OpenBLAS, with one thread
#               for each since they run side by side; in pure Go blas, linalg and one command
#               (make test-long has everything, as go test ./... does)
#   make mpi    the program for many machines, Open MPI and ScaLAPACK installed too
.PHONY: run test test-long bench rivals accuracy check soak build openblas openmpi mpi mpi-test wheel wheel-test release \
	clean

TAGS := openblas
BIN  := bootbench
ARGS ?= compare
RANKS ?= 1 2 3 4

run: build
	./$(BIN) $(ARGS)

build: openblas
	go build -tags $(TAGS) -o $(BIN) ./cmd/bootbench

# OpenBLAS is looked for by pkg-config and installed from the distribution.
openblas:
	@pkg-config --exists openblas 2>/dev/null || sh scripts/install-openblas.sh

# The program with the engine that spreads over processes (doc/cluster.md).
mpi: openblas openmpi
	go build -tags $(TAGS),mpi -o $(BIN) ./cmd/bootbench

openmpi:
	@pkg-config --exists ompi-c scalapack-openmpi 2>/dev/null && command -v mpirun >/dev/null || sh scripts/install-mpi.sh

mpi-test: openblas openmpi
	sh scripts/mpi-test.sh $(RANKS)

# make check has vet, which takes a while for all packages. Fewer collections of garbage save a fifth of the time.
test: openblas
	GOGC=400 OPENBLAS_NUM_THREADS=1 go test -vet=off -tags $(TAGS) -short ./...
	GOGC=400 go test -vet=off -short ./blas ./linalg

# BLAS threads that wait sleep soon here, instead of spinning beside other packages' tests.
test-long: openblas
	OPENBLAS_THREAD_TIMEOUT=4 go test -timeout 30m -tags $(TAGS) ./...

bench: openblas
	sh scripts/bench.sh

# The survey of doc/accuracy.md, six minutes on two cores.
accuracy: openblas
	sh scripts/accuracy.sh

# The tables of BENCHMARKS.md beside scikit-learn and LIBSVM, a quarter of an hour on one core;
# SETS="FILE.csv:ROWS ..." takes others.
rivals: build
	python3 scripts/rivals.py ./$(BIN) $(SETS)

# The wheel for Python (doc/python.md) in dist/, with the program inside: on Linux with OpenBLAS, which no machine
# that installs it needs to have. TAGS= and GOOS, GOARCH of other machines make one in pure Go.
wheel:
	python3 python/wheel.py dist

wheel-test: openblas
	sh scripts/wheel-test.sh

# Binaries in pure Go for Linux, macOS and Windows in dist/, with SHA256SUMS and licences.
release:
	sh scripts/release.sh

# What CI runs beside the tests.
check:
	sh scripts/check.sh

# The batteries of doc/reliability.md at full length, an hour on two cores.
soak: openblas
	sh scripts/soak.sh

clean:
	rm -rf $(BIN) dist
