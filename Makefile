# These targets install everything that a fresh Debian machine needs, and leave alone what is there.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# Tests run the product with its failpoints; they have a target folder of their own, so that the
# program that people run is never built with them.
TEST_TARGET := target/failpoints

.PHONY: help run test bench fuzz fmt check docs picture pictures web setup tools vendors payloads clients inspector mcp-conformance acp code-server browser conformance soak

help:
	@echo "make run      start a fleet of demo agents, and a shell to kill it and bring it back"
	@echo "make test     run all tests and checks"
	@echo "make check    run the checks alone: format, lints, documentation, dependencies, licences"
	@echo "make fmt      format the code"
	@echo "make docs     write docs/commands.md and docs/openapi.json, and the documentation as a book into target/book"
	@echo "make picture  draw the picture in the README again"
	@echo "make web      build the web page and the extension for VS Code, which the program contains"
	@echo "make pictures  take the pictures of the web page in docs/images again"
	@echo "make bench    measure costs against a baseline of the same run"
	@echo "make fuzz     give damaged transcripts to every parser for 30 minutes, or SECONDS=…"
	@echo "make soak     run the long form of the survival tests"
	@echo "make conformance  try the vendors' real programs, and handoffs between them; writes docs/vendors.md"
	@echo "                  LATEST=1: the newest releases, and what differs; writes target/vendors-latest.md"

run: setup web
	@$(CARGO) build --quiet -p segue-cli -p segue-testkit --bin segue --bin tour
	@target/debug/tour

test: setup tools vendors payloads clients inspector mcp-conformance acp code-server browser check
	@./scripts/web test
	SEGUE_TEST_TARGET=$(TEST_TARGET) $(CARGO) nextest run --workspace --features segue-cli/failpoints --target-dir $(TEST_TARGET)

# The checks that run no test.
check: tools web
	@./scripts/links
	@./scripts/web check
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets --features segue-cli/failpoints --target-dir $(TEST_TARGET) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps --target-dir $(TEST_TARGET)
	cargo-machete --skip-target-dir
	cargo-deny --log-level error check bans licenses sources

bench: setup browser
	$(CARGO) build --quiet --release -p segue-cli -p segue-testkit --bin segue --bin bench
	target/release/bench

# `make test` runs the same fuzzer for a minute, always with the same cases.
SECONDS := 1800

fuzz: setup web
	$(CARGO) build --quiet --profile fuzz -p segue-testkit --bin fuzz
	target/fuzz/fuzz regressions
	target/fuzz/fuzz --seconds $(SECONDS) $(TARGETS)

soak: setup tools vendors web
	SEGUE_SOAK=1 $(CARGO) nextest run -p segue-cli --features segue-cli/failpoints --target-dir $(TEST_TARGET) -E 'binary(messages) | binary(survival) | binary(real) & test(/^shared::/)'

conformance: setup tools vendors web
	@$(CARGO) build --quiet -p segue-cli
	@./scripts/conformance $(if $(LATEST),latest,pinned)
	SEGUE_TEST_VENDORS=$(if $(LATEST),target/vendors-latest,target/vendors) SEGUE_TEST_TARGET=$(TEST_TARGET) $(CARGO) nextest run -p segue-cli --features segue-cli/failpoints --target-dir $(TEST_TARGET) --test real --run-ignored all -E 'test(/^handoffs::/)'

docs: setup web
	@./scripts/tools docs
	@$(CARGO) build --quiet -p segue-cli
	@./scripts/docs

# The test of the README fails if the picture does not show its tour.
picture: setup web
	@$(CARGO) build --quiet -p segue-cli -p segue-testkit --bin segue --bin picture
	@./scripts/picture

# The test of the views takes them, from a fleet of demo agents.
pictures: setup tools browser
	SEGUE_PICTURES=$(CURDIR)/docs/images SEGUE_TEST_TARGET=$(TEST_TARGET) $(CARGO) nextest run -p segue-cli --features segue-cli/failpoints --target-dir $(TEST_TARGET) --test browser -E 'test(every_view)'

fmt:
	$(CARGO) fmt --all

setup:
	@./scripts/setup

# The build of the program embeds the page.
web: setup
	@./scripts/web build

browser: web
	@./scripts/web browser

tools: setup
	@./scripts/tools

vendors: setup
	@./scripts/vendors pinned
	@./scripts/vendors previous
	@if [[ -n "$(LATEST)" ]]; then ./scripts/vendors latest; fi

# After `vendors`, which installs npm.
payloads: vendors
	@./scripts/payloads

# After `vendors`, which installs npm.
clients: vendors
	@./scripts/clients

inspector: vendors
	@./scripts/inspector

# After `inspector`, which installs the version of Node that it needs.
mcp-conformance: inspector
	@./scripts/mcp-conformance

# After `vendors`, which installs npm.
acp: vendors
	@./scripts/acp

# After `vendors`, which installs npm.
code-server: vendors
	@./scripts/code-server
