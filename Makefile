# bootbench: two commands set everything up on a fresh Debian or Ubuntu with Go:
#   make run    installs OpenBLAS when it is missing, builds, runs the main job
#   make test   the whole test suite, on OpenBLAS and in pure Go
.PHONY: run test bench accuracy check build openblas clean

TAGS := openblas
BIN  := bootbench
ARGS ?= compare

run: build
	./$(BIN) $(ARGS)

build: openblas
	go build -tags $(TAGS) -o $(BIN) ./cmd/bootbench

# OpenBLAS is looked for by pkg-config and installed from the distribution.
openblas:
	@pkg-config --exists openblas 2>/dev/null || sh scripts/install-openblas.sh

test: openblas
	go test -tags $(TAGS) ./...
	go test ./...

bench: openblas
	sh scripts/bench.sh

# The survey of doc/accuracy.md, six minutes on two cores.
accuracy: build
	sh scripts/accuracy.sh

# What CI runs beside the tests.
check:
	sh scripts/check.sh

clean:
	rm -f $(BIN)
