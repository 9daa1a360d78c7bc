# mptcplab with all of its commands: docker build -t mptcplab . && docker run --rm -v "$PWD:/work" mptcplab run two.toml
# Real packets need more: --cap-add NET_ADMIN --device /dev/net/tun.
# Not built yet: where this was written there was no Docker.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make=4.3-* python3=3.11.* python3-venv=3.11.* \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make build && .venv/bin/maturin build --release --locked --interpreter .venv/bin/python --out /wheels

FROM python:3.11-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[figures]" && rm -r /wheels
WORKDIR /work
ENTRYPOINT ["mptcplab"]
CMD []
