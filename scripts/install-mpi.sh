#!/bin/sh
# Installs Open MPI and ScaLAPACK on Debian or Ubuntu.
set -eu
if ! command -v apt-get >/dev/null; then
	echo "ScaLAPACK or MPI is not installed and there is no apt-get: install them by hand (doc/cluster.md)" >&2
	exit 1
fi
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
$as_root apt-get update -q
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -yq --no-install-recommends openmpi-bin libopenmpi-dev libscalapack-openmpi-dev
