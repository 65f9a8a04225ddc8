# The program on OpenBLAS, for a user without rights. It builds without a network where the modules lie beside it:
#
#   cp -r "$(go env GOMODCACHE)/cache/download" modules     # after go mod download
#   docker build -t bootbench:0.1.0 --build-arg VERSION=0.1.0 .
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" bootbench:0.1.0 estimate houses.csv
#
# and the base images hold OpenBLAS; else both are fetched. --build-arg TAGS= builds in pure Go, which needs only the
# modules. Go 1.25 and later use no more processors than the container's limit allows (--cpus, resources.limits.cpu);
# programs built by Go 1.24 need --threads for that.
ARG BUILD=golang:1.25-bookworm
ARG BASE=debian:bookworm-slim

FROM ${BUILD} AS build
ARG TAGS=openblas
RUN [ -z "$TAGS" ] || pkg-config --exists openblas || { apt-get update && apt-get install -yq --no-install-recommends libopenblas-dev; }
WORKDIR /src
COPY . .
RUN if [ -d modules ]; then export GOPROXY=file:///src/modules GOTOOLCHAIN=local; fi && \
    go build -trimpath -tags "$TAGS" -o /bootbench ./cmd/bootbench && sh scripts/notice.sh "$TAGS" > /NOTICE

FROM ${BASE}
ARG TAGS=openblas
ARG VERSION=dev
LABEL org.opencontainers.image.title=bootbench org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.licenses=BSD-3-Clause
RUN [ -z "$TAGS" ] || ldconfig -p | grep -q libopenblas || { apt-get update && apt-get install -yq --no-install-recommends libopenblas0-pthread && rm -rf /var/lib/apt/lists/*; }
COPY --from=build /bootbench /usr/local/bin/bootbench
COPY --from=build /NOTICE /src/LICENSE /usr/share/doc/bootbench/
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["bootbench"]
