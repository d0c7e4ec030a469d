# A static program on nothing: docker build -t ome . && docker run --rm -v "$PWD:/work" ome validate .
# A local build takes the compiler's image by its tag: `--build-arg RUST=rust@sha256:…` pins it.
ARG RUST=rust:1.95-alpine
FROM ${RUST} AS build
# ring, the cryptography of rustls, compiles C.
RUN apk add --no-cache musl-dev gcc make
WORKDIR /ome
COPY . .
RUN cargo build --release --locked --bin ome

# The image of a release: its programs, below dist/amd64 and dist/arm64; no other image is part of it.
FROM scratch AS released
ARG TARGETARCH
COPY --chmod=755 dist/${TARGETARCH}/ome /ome
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/ome"]

FROM scratch
COPY --from=build /ome/target/release/ome /ome
# Nobody: the files it reads are mounted, and what it writes belongs to the user that `--user` names.
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/ome"]
