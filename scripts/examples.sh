#!/bin/sh
# Compiles and runs the Examples in a module outside of this tree, which replaces bootbench by it.
set -eu
root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed 's/^module .*/module outside/' go.mod > "$work/go.mod"
printf 'require bootbench v0.0.0\nreplace bootbench => %s\n' "$root" >> "$work/go.mod"
cp go.sum "$work/"
for file in $(git ls-files -co --exclude-standard '*example_test.go'); do
	mkdir -p "$work/of/$(dirname "$file")"
	cp "$file" "$work/of/$file"
done
cd "$work"
go vet -mod=mod ./...
go test -mod=mod ./...
