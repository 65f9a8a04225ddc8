#!/bin/sh
# Sets support vector trainings and leave-one-out counts beside LIBSVM's, in one
# run on one machine. Optional: needs svm-train and LIBSVM's header, Debian's
# libsvm-tools and libsvm-dev, and a C compiler.
#
# The first table trains once on precomputed kernel matrices at tolerance 1e-3; the second
# counts leave-one-out errors and is where the counts in internal/leaveout/exact_test.go come from; the third
# trains with a bias on resamples, for fits/libsvm_test.go.
set -eu
cd "$(dirname "$0")/.."
tags=${TAGS-openblas}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
cc -O2 -o "$program" scripts/libsvm.c -lsvm
BOOTBENCH_LIBSVM_TRAIN=$program \
	go test -count=1 -tags "$tags" -timeout 1h -run TestAgainstLIBSVM -v ./train/svm
BOOTBENCH_LIBSVM=$(command -v svm-train) \
	go test -count=1 -tags "$tags" -timeout 1h -run TestAgainstLIBSVM -v ./internal/leaveout
BOOTBENCH_LIBSVM=$(command -v svm-train) \
	go test -count=1 -tags "$tags" -timeout 1h -run TestBiasAgainstLIBSVM -v ./fits
