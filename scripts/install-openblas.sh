#!/bin/sh
# Installs OpenBLAS's development files and a C compiler on Debian or Ubuntu.
set -eu
if ! command -v apt-get >/dev/null; then
	echo "OpenBLAS is not installed and there is no apt-get: install it by hand, or use the pure Go build (go build ./cmd/bootbench)" >&2
	exit 1
fi
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
$as_root apt-get update -q
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -yq --no-install-recommends gcc libc6-dev pkg-config libopenblas-dev
