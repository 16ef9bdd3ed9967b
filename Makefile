# The two commands a newcomer needs are `make run` and `make test`. Both first make the
# machine ready (hack/setup) and afterwards stop what that started.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# What go test runs, and with what: make test PACKAGES=./runtime/... TESTFLAGS='-run Half -v'
# Those that take minutes, and wait for engines meanwhile, come first: the others fill what they leave.
PACKAGES  ?= $(addprefix ./,internal/conformance internal/enginetest runtime/engine runtime/process runtime/journal) ./...
# And one more at once than there are processors, for the same reason.
AT_ONCE   ?= $(shell echo $$(( $$(nproc) + 1 )))
TESTFLAGS ?=
# How often make soak runs every test.
SOAK      ?= 10
# How often make bench runs each side, and on what: make bench BENCH=tools/warm
BENCHTIME ?= 5x
BENCH     ?= tools

# Otherwise each process with the race detector, the children of tests too, waits a second before it ends.
export GORACE ?= atexit_sleep_ms=0

# Memory for time: collecting garbage as often as by default is up to a fifth of what compilers and tests compute.
run test lint: export GOGC ?= 400

.PHONY: help run run-agenttools run-issuerunner test fuzz golangci-lint bench soak generate plans lint build clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

run: ## the main job, on every backend this machine has
	go tool sbxgen check
	hack/setup -- go run ./hack/run

run-agenttools: ## code-execution tools in this terminal: JSON requests, a line each; AGENTTOOLS_BACKEND chooses the sandbox
	hack/setup -- $(SHELL) -c 'SBX_SANDBOX_IMAGE=$$SBX_TEST_IMAGE CONTAINER_HOST=$$SBX_TEST_PODMAN_HOST exec go run ./examples/agenttools'

run-issuerunner: ## a controller on the issues of a small repository it makes; ISSUERUNNER_BACKEND chooses the sandbox
	hack/setup -- $(SHELL) -c 'SBX_SANDBOX_IMAGE=$$SBX_TEST_IMAGE CONTAINER_HOST=$$SBX_TEST_PODMAN_HOST exec go run ./examples/issuerunner'

# make lint has the whole answer of vet, and no test reads its own debugging information.
test: ## all tests with the race detector, live ones included
	hack/setup -- go run ./hack/testreport -race -count=1 -timeout=25m -p=$(AT_ONCE) -vet=off -ldflags=-w $(TESTFLAGS) $(PACKAGES)

fuzz: ## every fuzz target for FUZZTIME (60s)
	hack/fuzz

conformance: ## hold every backend of this machine to the contract, and write docs/conformance.md
	hack/setup -- go test ./internal/conformance -run TestBackends -count=1 -timeout 1h -conformance -write ../../docs/conformance.md

vet-codebases: ## run sbxvet on large code bases of others, and hold what it finds to docs/codebases.md
	go test ./cmd/sbxvet -run TestCodebases -count=1 -timeout 2h -codebases -v

GOLANGCI_LINT ?= v2.15.0
golangci-lint: ## build golangci-lint with our plugin, and hold what it finds to the other drivers (needs the module proxy)
	go test ./analyzers/golangci -run TestACustomGolangciLint -count=1 -timeout 1h -golangci-lint $(GOLANGCI_LINT) -v

bench: ## sbxvet beside go vet on x/tools (BENCH=otel, BENCH=moby), in turns
	go test ./cmd/sbxvet/bench -run '^$$' -bench 'BesideGoVet/$(BENCH)' -benchtime $(BENCHTIME) -timeout 6h

soak: ## all tests SOAK times over, in random order, each at its full size
	SBX_TEST_SOAK=1 hack/setup -- go run ./hack/testreport -race -count=$(SOAK) -shuffle=on -timeout=2h $(TESTFLAGS) $(PACKAGES)

generate: ## generate everything that is generated
	go generate ./...

plans: ## pin the plans of the generated backends anew; what changed is to be reviewed
	go test ./generated/... ./examples/judge -run TestPlans -update

lint: ## formatting, vet, staticcheck, our own rules, drift of generated files, other platforms
	hack/lint

build: ## the commands, into bin/
	go build -trimpath -o bin/ ./cmd/...

clean: ## stop what setup started, and remove what was built
	hack/setup --stop
	rm -rf bin .cache
