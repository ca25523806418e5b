# Everything a fresh Debian machine needs is installed by these targets; what is there is left alone.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# Tests run the product with its failpoints; they have a target folder of their own, so that the
# program that people run is never built with them.
TEST_TARGET := target/failpoints

.PHONY: help run test bench fuzz fmt check setup tools vendors conformance soak

help:
	@echo "make run    the main job: a fleet of demo agents that survives everything"
	@echo "make test   all tests and checks"
	@echo "make bench  what things cost, against a baseline measured in the same run"
	@echo "make fuzz   every reader with damaged transcripts, for 30 minutes, or SECONDS=…"
	@echo "make conformance  what every vendor's real program does, and every handoff between two of them; writes docs/vendors.md"
	@echo "                  LATEST=1: the same with the newest releases, and what differs; writes target/vendors-latest.md"
	@echo "make soak   the long form of the survival tests"
	@echo "make fmt    format the code"

run: setup
	@$(CARGO) build --quiet -p segue-cli -p segue-testkit
	@target/debug/tour

test: setup tools vendors check
	SEGUE_TEST_TARGET=$(TEST_TARGET) $(CARGO) nextest run --workspace --features segue-cli/failpoints --target-dir $(TEST_TARGET)

# What can be told without running anything.
check: tools
	@./scripts/links
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets --features segue-cli/failpoints --target-dir $(TEST_TARGET) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps --target-dir $(TEST_TARGET)
	cargo-machete --skip-target-dir
	cargo-deny --log-level error check bans licenses sources

bench: setup
	$(CARGO) build --quiet --release -p segue-cli -p segue-testkit
	target/release/bench

# Half an hour of what `make test` does for a minute, with other cases each time.
SECONDS := 1800

fuzz: setup
	$(CARGO) build --quiet --profile fuzz -p segue-testkit --bin fuzz
	target/fuzz/fuzz regressions
	target/fuzz/fuzz --seconds $(SECONDS) $(TARGETS)

soak: setup tools vendors
	SEGUE_SOAK=1 $(CARGO) nextest run -p segue-cli --features segue-cli/failpoints --target-dir $(TEST_TARGET) --test survival --test real --test messages

conformance: setup tools vendors
	@$(CARGO) build --quiet -p segue-cli
	@./scripts/conformance $(if $(LATEST),latest,pinned)
	SEGUE_TEST_VENDORS=$(if $(LATEST),target/vendors-latest,target/vendors) SEGUE_TEST_TARGET=$(TEST_TARGET) $(CARGO) nextest run -p segue-cli --features segue-cli/failpoints --target-dir $(TEST_TARGET) --test handoffs --run-ignored all

fmt:
	$(CARGO) fmt --all

setup:
	@./scripts/setup

tools: setup
	@./scripts/tools

vendors: setup
	@./scripts/vendors pinned
	@./scripts/vendors previous
	@if [[ -n "$(LATEST)" ]]; then ./scripts/vendors latest; fi
