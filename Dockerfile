# layoutd with its CPU executor:
#   docker build -t layoutd . && docker run -p 8080:8080 layoutd
# and for a card, on an image that has CUDA's toolkit (headers to build with, NVRTC and CUPTI to run with):
#   docker build --build-arg BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04 -t layoutd . && docker run --gpus all -p 8080:8080 layoutd
# An address is a user there; for tokens, mount a file of them and give --tokens FILE instead of --no-auth.
ARG BASE=debian:12
FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make pkg-config libmicrohttpd-dev \
    libcjson-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev zlib1g-dev && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN make -C /src clean all

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends libmicrohttpd12 libcjson1 libsqlite3-0 libcurl4 libsodium23 zlib1g \
    librsvg2-2 && rm -rf /var/lib/apt/lists/* && useradd --system --create-home layoutd
COPY --from=build /src/build/layoutd /src/build/layoutd-worker /usr/bin/
COPY --from=build /src/web /usr/share/layoutd/web
USER layoutd
VOLUME /home/layoutd/.local/share/layoutd
EXPOSE 8080
ENTRYPOINT ["layoutd", "--listen", "0.0.0.0:8080"]
CMD ["--no-auth"]
