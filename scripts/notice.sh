#!/bin/sh
# The licences of what a build with the tags $1 contains: of Go's library, each module, and OpenBLAS.
set -eu
echo "bootbench contains the following; its own licence is in LICENSE, that of the embedded data sets in"
echo "internal/dataset/embedded/README.md."
part() {
	printf '\n======== %s\n\n' "$1"
	shift
	cat "$@"
}
part "Go $(go env GOVERSION)" "$(go env GOROOT)/LICENSE"
go list -tags "$1" -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' \
	./cmd/bootbench | sort -u | while read -r path version folder; do
	part "$path $version" "$(ls "$folder"/LICENSE* "$folder"/COPYING* 2>/dev/null | head -n 1)"
done
case $1 in *openblas*)
	for file in /usr/share/doc/libopenblas*/copyright; do
		part "OpenBLAS, and libgfortran (GPL 3 with the GCC Runtime Library Exception)" "$file"
		break
	done ;;
esac
