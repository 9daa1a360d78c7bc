# make help says what there is. Everything happens in this directory: .venv, target, report.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
OUTPUT ?= report
FUZZ_SECONDS ?= 60
PACKETDRILL ?=
SUITE ?= mptcp
ADVISORIES ?=
ACTIONLINT := v1.7.12

# The compiler of rust-toolchain.toml under another name, see tools/toolchain.
TOOLCHAIN := $(shell tools/toolchain)
ifneq ($(TOOLCHAIN),)
export RUSTUP_TOOLCHAIN := $(TOOLCHAIN)
endif

export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PYO3_BUILD_EXTENSION_MODULE := 1

.PHONY: page test-page help prose reproduce verdicts sensitivity test released compiled arranged test-rust test-python lint-python run-pytest check-long build bench instructions deny docs other-systems wheel-test lint-workflows fuzz conformance clean prerequisites

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

reproduce: build ## Run the published studies, check their facts, write report/index.html
	@$(BIN)/mptcplab reproduce --output $(OUTPUT) $(STUDIES)

verdicts: build ## Run the published studies and compare their verdicts with the record; a changed one needs a reason
	@$(BIN)/mptcplab reproduce --output $(OUTPUT) --quiet --compare docs/verdicts/default.json
	@$(BIN)/python tools/verdicts --check

sensitivity: build ## Plant each error into every study and record which claims notice it (an hour)
	@$(BIN)/mptcplab reproduce --output $(OUTPUT) --quiet --quick --seeds 5 --mutate all \
		--record python/mptcplab/studies/sensitivity.json

build: $(VENV)/.built ## Make .venv and the release build

test: ## Run every check: format, lints, types, tests
	@$(MAKE) --jobs=2 --output-sync released compiled
	@$(MAKE) --jobs=2 --output-sync test-rust lint-python
	@$(MAKE) run-pytest

# Optimising the whole extension at its linking leaves a processor idle; what tests need is compiled meanwhile.
released: instructions

compiled: arranged
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo test --workspace --locked --quiet --no-run
	@$(MAKE) docs

arranged: $(VENV)/.made
	cargo fmt --all --check
	@$(BIN)/python tools/circles > $(VENV)/circles.log || { cat $(VENV)/circles.log; exit 1; }

test-rust: arranged
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked
	@$(MAKE) docs

test-python: lint-python
	@$(MAKE) run-pytest

lint-python: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest mptcplab._core
	@$(MAKE) prose

prose: $(VENV)/.installed ## Check the words of documents, comments and messages, and the spelling
	$(BIN)/python tools/prose --check
	$(BIN)/codespell --skip python/mptcplab/page/static *.md bpf crates docs examples fuzz python tests tools

run-pytest: build
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses 2 --dist loadscope --durations 20

page: ## Build the page that shows the simulator in a browser (Node.js, a Rust compiler for WebAssembly)
	@tools/page

test-page: build page ## Test the page in Chromium
	@tools/test-page

check-long: build ## What takes hours: 10^7 random operations, hostile cases, a day of virtual time, outages and throughput (root), fuzzing
	@tools/check-long

bench: build ## Run the standard benchmarks S1 to S4
	@$(BIN)/mptcplab bench

instructions: build ## Count the instructions a data packet costs (S1, S2; valgrind); fails when they rose by more than 3 %
	@"$$(tools/check-prerequisites --python)" tools/instructions.py

other-systems: ## Check that the simulator compiles for Windows and macOS (rustup gets their standard libraries)
	@tools/other-systems

docs: ## Build the documentation of the crates; a warning is an error
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

deny: .tools/deny/.installed ## Hold the dependencies against deny.toml: licenses, sources, versions, known faults
	@ADVISORIES=$(ADVISORIES) tools/deny

wheel-test: .tools/wheel/.installed ## Build wheel and source distribution, check them, run a study from the wheel alone
	@tools/wheel-test

lint-workflows: ## Check .github/workflows with actionlint, from the path or built by Go
	@if command -v actionlint >/dev/null 2>&1; then actionlint; \
		else go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT); fi

fuzz: ## Fuzz the parsers and the endpoint for FUZZ_SECONDS each (60; needs cargo-fuzz)
	@tools/fuzz $(FUZZ_SECONDS)

conformance: ## Run packetdrill's scripts (PACKETDRILL=CHECKOUT, built; SUITE=mptcp or tcp; needs root)
	@"$$(tools/check-prerequisites --python)" tools/conformance --suite $(SUITE) $(PACKETDRILL)

clean: ## Remove what was made
	rm -rf $(VENV) .tools dist target report results results-* python/mptcplab/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

prerequisites:
	@tools/check-prerequisites

$(VENV)/.made: requirements.lock | prerequisites
	@"$$(tools/check-prerequisites --python)" -m venv --clear $(VENV)
	@touch $@

# Takes half a minute; what needs no package is compiled meanwhile.
$(VENV)/.installed: $(VENV)/.made
	@echo "Installing the locked Python packages into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@touch $@

.tools/%/.installed: tools/%.lock | prerequisites
	@"$$(tools/check-prerequisites --python)" -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST) | prerequisites
	@echo "Building the release extension (a minute or two the first time)"
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(BIN)/maturin develop --release --locked > $(VENV)/build.log 2>&1 \
		|| { cat $(VENV)/build.log; exit 1; }
	@touch $@
