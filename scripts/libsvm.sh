#!/bin/sh
# Makes the figures of LIBSVM anew that fits/libsvm_test.go holds. Needs svm-train and svm-predict, Debian's
# libsvm-tools. Times beside LIBSVM's are those of bootbench bench (BENCHMARKS.md).
set -eu
cd "$(dirname "$0")/.."
tags=${TAGS-openblas}
export BOOTBENCH_LIBSVM="$(command -v svm-train)"
go test -count=1 -tags "$tags" -timeout 1h -run TestBiasAgainstLIBSVM -v ./fits
