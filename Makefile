# Every target checks for the tools it needs and says what to install.

BIN       := bin/tonscribe
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOFLAGS   := -trimpath
export GOFLAGS
# Without what only debuggers read.
STRIP     := -s -w
LDFLAGS   := $(STRIP) -X main.version=$(VERSION)
# Compiler and linker collect garbage less often: a sixth less of processor. Tests do not.
COMPILE   := -toolexec='env GOGC=400'
UP_ARGS   ?=
# What takes longest first, so that nothing is left to run alone at the end.
TEST      ?= ./query ./verify ./webhooks/send ./internal/parts ./test/... ./...
TIMEOUT   ?= 30m
# Packages that are tested side by side: many wait for blocks more than they compute. Four
# took as long on two cores, with an eighth more of processor.
SIDE      ?= 3
BEFORE    ?=
AFTER     ?= $(BIN)
ANSWERS_ARGS ?=
LINT      := golangci-lint
LINT_WANT := v2.15.0

.DEFAULT_GOAL := help
.PHONY: help engine build up test test-long answers bench lint fmt generate need-go need-npm need-lint need-protoc

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

# What the dashboard is made of. Folders count as well: a file that is gone is a change.
WEB       := web/index.html web/vite.config.ts web/tsconfig.json $(shell find web/src web/public web/snippets)

build: need-go web/site/built/index.html ## bin/tonscribe
	@go build $(COMPILE) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/tonscribe

web/node_modules/.package-lock.json: web/package.json web/package-lock.json | need-npm
	@npm --prefix web ci --engine-strict --prefer-offline --no-audit --no-fund --loglevel=error
	@touch $@

web/site/built/index.html: web/node_modules/.package-lock.json $(WEB)
	@npm --prefix web run --silent build -- --logLevel=warn
	@touch $@

engine: build need-npm ## fetch the embedded ClickHouse (once, about 170 MB)
	@$(BIN) engine fetch

up: engine ## run everything in one process: make up UP_ARGS='--source files:DIR'
	@$(BIN) up $(UP_ARGS)

# The linter vets.
test: engine ## all tests, on real engines
	@test/within go test -vet=off $(COMPILE) -ldflags='$(STRIP)' -p $(SIDE) -timeout $(TIMEOUT) $(TEST)

test-long: engine ## soak, crash and fuzz runs that take longer
	@TONSCRIBE_TEST_LONG=1 go test -count=1 -timeout 4h $(TEST)
	@test/fuzz 10m

answers: engine ## whether two builds answer the same: make answers BEFORE=../before/bin/tonscribe
	@test -n '$(BEFORE)' || { echo 'Name the build before the change: make answers BEFORE=../before/bin/tonscribe'; exit 1; }
	@go test -v -count=1 -timeout 4h -run TwoBuilds ./test/answers -before $(abspath $(BEFORE)) -after $(abspath $(AFTER)) $(ANSWERS_ARGS)

bench: engine ## the figures of docs/performance.md
	@go test -run '^$$' -bench . -benchmem ./decode/... ./query/...
	@test/bench/run

lint: need-lint web/node_modules/.package-lock.json ## golangci-lint with the project's configuration, types of the dashboard
	@GOGC=200 $(LINT) run
	@npm --prefix web run --silent check

fmt: need-go ## gofmt
	@gofmt -w $$(git ls-files '*.go' | grep -v -e '\.pb\.go$$')

generate: need-protoc build ## schema/record from record.proto, compose/*.xml from the users of the embedded engine
	@protoc --proto_path=. --go_out=. --go_opt=paths=source_relative \
		--go-vtproto_out=. --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size+equal+clone \
		schema/record/record.proto
	@$(BIN) engine server compose

need-go:
	@command -v go >/dev/null || { echo 'Go 1.26 or newer is needed: https://go.dev/doc/install'; exit 1; }

need-npm:
	@command -v npm >/dev/null || { echo 'npm is needed for the dashboard and to fetch the embedded ClickHouse: install Node.js 20.19 or newer (https://nodejs.org)'; exit 1; }

need-lint:
	@command -v $(LINT) >/dev/null || { echo 'golangci-lint is needed: go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_WANT)'; exit 1; }

need-protoc:
	@command -v protoc >/dev/null || { echo 'protoc is needed: apt-get install protobuf-compiler (or your system'"'"'s package)'; exit 1; }
	@command -v protoc-gen-go >/dev/null || { echo 'go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12'; exit 1; }
	@command -v protoc-gen-go-vtproto >/dev/null || { echo 'go install github.com/planetscale/vtprotobuf/cmd/protoc-gen-go-vtproto@v0.6.1-0.20240319094008-0393e58bdf10'; exit 1; }
