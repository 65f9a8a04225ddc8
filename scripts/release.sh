#!/bin/sh
# Binaries of the release in pure Go for Linux, macOS and Windows in dist/, with the licences and checksums.
set -eu
version=$(sed -n 's/^const release = "\(.*\)"/\1/p' internal/report/document.go)
mkdir -p dist
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	system=${platform%/*} machine=${platform#*/}
	suffix=
	[ "$system" = windows ] && suffix=.exe
	CGO_ENABLED=0 GOOS=$system GOARCH=$machine go build -trimpath -ldflags "-s -w" \
		-o "dist/bootbench-$version-$system-$machine$suffix" ./cmd/bootbench
done
sh scripts/notice.sh "" > dist/NOTICE
cp LICENSE dist/
cd dist
sha256sum bootbench-"$version"-* LICENSE NOTICE > SHA256SUMS
cat SHA256SUMS
