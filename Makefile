SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# How long each fuzz target runs: executions (20000x) or a time (5m).
FUZZTIME ?= 20000x
# Which benchmarks to run, how often each, and an earlier result to compare with.
BENCH ?= .
COUNT ?= 1
BASE ?=

# Which minor versions of Kubernetes make compat asks, all when empty.
MINORS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/unioncel
	go build -o bin/ ./cmd/...

.PHONY: test
test: ## run the tests
	go test ./...

.PHONY: short
short: ## run the tests without an API server, other programs, and most sizes and seeds
	go test -short ./...

.PHONY: race
race: ## run the tests with the race detector
	go test -race ./...

.PHONY: lint
lint: ## run go vet and golangci-lint
	@.ci/run vet lint

.PHONY: cross
cross: ## build for windows and darwin
	@.ci/run cross

.PHONY: contrib
contrib: ## test the modules below contrib
	@.ci/run contrib

.PHONY: compat
compat: ## have all supported versions of Kubernetes judge, or MINORS ("1.30 1.34")
	@MINORS='$(MINORS)' .ci/run compat

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20000x)
	@FUZZTIME=$(FUZZTIME) .ci/run fuzz

.PHONY: bench
bench: ## run the benchmarks that match BENCH (.) COUNT (1) times into bench.txt; BASE=FILE compares
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... | tee bench.txt
	$(if $(BASE),go tool -modfile=tools/go.mod benchstat '$(BASE)' bench.txt)

.PHONY: fmt
fmt: ## format the Go files
	find . \( -name .git -o -name testdata \) -prune -o -name '*.go' -print0 | xargs -0 -r gofmt -w

.PHONY: generate
generate: ## write the generated files anew
	go generate ./...

.PHONY: verify
verify: ## fail when generated files, formatting or go.mod are not up to date
	@.ci/run verify
