# The one binary, for every stage. The embedded engine is not in the image:
# in production ClickHouse and Kafka run beside it (docker-compose.yml).
FROM node:20.20.2-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web .
RUN npm run build

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/web/site/built web/site/built
ARG VERSION=unknown
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /tonscribe ./cmd/tonscribe

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* && useradd --system --uid 10001 --create-home tonscribe \
    && install -d -o tonscribe -g tonscribe /home/tonscribe/data
COPY --from=build /tonscribe /usr/local/bin/tonscribe
USER tonscribe
WORKDIR /home/tonscribe
EXPOSE 8081
ENTRYPOINT ["tonscribe"]
CMD ["--help"]
