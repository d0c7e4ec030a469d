# A static program on nothing: docker build -t ome . && docker run --rm -v "$PWD:/work" ome validate .
FROM rust:1.95-alpine AS build
# ring, the cryptography of rustls, compiles C.
RUN apk add --no-cache musl-dev gcc make
WORKDIR /ome
COPY . .
RUN cargo build --release --locked --bin ome

FROM scratch
COPY --from=build /ome/target/release/ome /ome
# Nobody: the files it reads are mounted, and what it writes belongs to the user that `--user` names.
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/ome"]
