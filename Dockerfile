# The image of unioncel: the program, and a KRM function when it is run without
# arguments, as kustomize and kpt do.
#
#   docker build -t unioncel .
#   docker run --rm -v "$PWD:/work" unioncel compile --check config/crd

FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
# With .git, from which Go takes the version.
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/cache \
    GOCACHE=/cache CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/unioncel ./cmd/unioncel

# Its users are nonroot, and nobody, as whom kustomize runs functions.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/unioncel /usr/local/bin/unioncel
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/unioncel"]
CMD ["fn"]
