#!/bin/sh
mpirun -np 4 bootbench retrain big.csv --loss hinge --C 1 --resamples 4000 \
    --threads 1 --shard auto --journal study
