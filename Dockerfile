# layoutd with its CPU executor; with the NVIDIA container runtime (--gpus all) its workers find the card.
#   docker build -t layoutd . && docker run -p 8080:8080 layoutd
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make pkg-config libmicrohttpd-dev \
    libcjson-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev zlib1g-dev && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN make -C /src clean all

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libmicrohttpd12 libcjson1 libsqlite3-0 libcurl4 libsodium23 zlib1g \
    librsvg2-2 && rm -rf /var/lib/apt/lists/* && useradd --system --create-home layoutd
COPY --from=build /src/build/layoutd /src/build/layoutd-worker /usr/bin/
COPY --from=build /src/web /usr/share/layoutd/web
USER layoutd
VOLUME /home/layoutd/.local/share/layoutd
EXPOSE 8080
ENTRYPOINT ["layoutd", "--listen", "0.0.0.0:8080", "--no-auth"]
