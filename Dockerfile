# The program on OpenBLAS. It builds without a network where the modules lie beside it:
#
#   cp -r "$(go env GOMODCACHE)/cache/download" modules     # after go mod download
#   docker build -t bootbench .
#   docker run --rm -v "$PWD:/data" -w /data bootbench estimate houses.csv
#
# and the base images hold OpenBLAS; else both are fetched. --build-arg TAGS= builds in pure
# Go, which needs only the modules.
ARG BUILD=golang:1.24-bookworm
ARG BASE=debian:bookworm-slim

FROM ${BUILD} AS build
ARG TAGS=openblas
RUN [ -z "$TAGS" ] || pkg-config --exists openblas || { apt-get update && apt-get install -yq --no-install-recommends libopenblas-dev; }
WORKDIR /src
COPY . .
RUN if [ -d modules ]; then export GOPROXY=file:///src/modules GOTOOLCHAIN=local; fi && \
    go build -trimpath -tags "$TAGS" -o /bootbench ./cmd/bootbench

FROM ${BASE}
ARG TAGS=openblas
RUN [ -z "$TAGS" ] || ldconfig -p | grep -q libopenblas || { apt-get update && apt-get install -yq --no-install-recommends libopenblas0-pthread && rm -rf /var/lib/apt/lists/*; }
COPY --from=build /bootbench /usr/local/bin/bootbench
ENTRYPOINT ["bootbench"]
