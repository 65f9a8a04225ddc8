#!/bin/sh
# Installs the wheel without a network into a new virtual environment, which sees the distribution's scikit-learn,
# and runs its tests there; builds it, unless $1 is a wheel. Says SKIP where that is not possible.
set -eu
python=python3
"$python" -c 'import sklearn' 2>/dev/null || python=/usr/bin/python3
for module in ensurepip sklearn; do # of python3-venv and python3-sklearn
	"$python" -c "import $module" 2>/dev/null || { echo "SKIP wheel: Python has no $module"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] && cp "$1" "$work" || python3 python/wheel.py "$work"
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --no-index --quiet "$work"/*.whl
PATH=$work/venv/bin:/usr/bin:/bin "$work/venv/bin/bootbench" --version
PATH=/usr/bin:/bin "$work/venv/bin/python" -B -W ignore python/test_bootbench.py
