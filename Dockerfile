# A small image of the server with its pages. Build: docker build -t gatehouse .
# Run, for players on other machines:
#   docker run --network host -e GATEHOUSE_AUTH_SECRET -e GATEHOUSE_ADMIN_TOKEN gatehouse
# WebRTC tells clients the addresses of the machine it runs on: without the host's
# network, publish the ports under their own numbers and say by which address
# clients reach them: -e GATEHOUSE_RTC_EXTERNAL_IPS=203.0.113.7

# The pages.
FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
# The SDK's tests read golden vectors of the Go packages; the build needs none.
RUN npm run build

# The server. ENet is a C library: this stage and the last must have the same one.
FROM golang:1.26-bookworm AS server
RUN apt-get update && apt-get install -y --no-install-recommends libenet-dev pkg-config && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -ldflags="-s -w" -o /gatehouse ./cmd/gatehouse

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libenet7 ca-certificates && rm -rf /var/lib/apt/lists/* \
	&& useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin gatehouse
COPY --from=server /gatehouse /usr/local/bin/gatehouse
COPY --from=web /src/web/dist /srv/web
ENV GATEHOUSE_WEB_DIR=/srv/web
USER 10001
# HTTP, WebSocket, WebRTC signaling, pages.
EXPOSE 8080/tcp
# WebRTC.
EXPOSE 8081/udp 8081/tcp
# ENet.
EXPOSE 7777/udp
# Admin API and metrics: on 127.0.0.1 unless GATEHOUSE_ADMIN_LISTEN says otherwise.
EXPOSE 8090/tcp
ENTRYPOINT ["gatehouse"]
CMD ["serve"]
