#!/bin/sh
# Makes the figures of LIBSVM anew that tests hold: leave-one-out counts in internal/leaveout/exact_test.go, and
# left-out errors of models with a bias in fits/libsvm_test.go. Needs svm-train and svm-predict, Debian's
# libsvm-tools. Times beside LIBSVM's are those of bootbench bench (BENCHMARKS.md).
set -eu
cd "$(dirname "$0")/.."
tags=${TAGS-openblas}
export BOOTBENCH_LIBSVM="$(command -v svm-train)"
go test -count=1 -tags "$tags" -timeout 1h -run TestAgainstLIBSVM -v ./internal/leaveout
go test -count=1 -tags "$tags" -timeout 1h -run TestBiasAgainstLIBSVM -v ./fits
