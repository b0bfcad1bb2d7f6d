# Every target is one word; `make help` lists them.
PYTHON ?= python3
VENV := .venv
# One more than there are cores, for some tests wait for processes, a browser or a cluster.
WORKERS := $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Tests start many processes: each would compile the package again where Python was told to keep nothing.
unexport PYTHONDONTWRITEBYTECODE
KERNELS := $(shell find src -name '_*kernels.py' -o -name '*.pxd')

.DEFAULT_GOAL := help
.PHONY: help setup demo test prove mutants fuzz wheel bare compat check fix bench docs clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1|/' | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

# The kernels are compiled, by the second line with PIP, while the first fetches the packages that are needed to run.
$(BIN)/glasshouse: pyproject.toml setup.py $(KERNELS)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@for what in build run dev; do $(BIN)/python tools/requirements.py $$what > $(VENV)/$$what.txt || exit 1; done
	@$(PIP) --requirement $(VENV)/build.txt
	@$(PIP) --requirement $(VENV)/run.txt & fetching=$$!; \
	$(PIP) --no-deps --no-build-isolation --editable . && wait $$fetching
	@touch $@

$(VENV)/developer: $(BIN)/glasshouse
	@$(PIP) --requirement $(VENV)/dev.txt
	@touch $@

setup: $(VENV)/developer ## make .venv with everything a developer needs

demo: $(BIN)/glasshouse ## publish an embedded hospital table and show the guarantee
	@$(BIN)/glasshouse demo --out demo

test: $(VENV)/developer ## run the quality gates and the whole suite; TIMES=1 tells which tests take the processor's time
	@$(MAKE) --no-print-directory check & checked=$$!; \
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(if $(TIMES),-p tests.times); tested=$$?; \
	wait $$checked || { echo "make check failed: its messages are above the tests"; exit 1; }; exit $$tested

prove: $(VENV)/developer ## attack every method over all worlds and coin tosses of thousands of tables; the suite with more and new examples
	@$(BIN)/python -m tests.prove
	@GLASSHOUSE_LOOK=1 GLASSHOUSE_TABLES=1 GLASSHOUSE_EXAMPLES=2 $(BIN)/python -m pytest -q -n auto --dist worksteal
	@GLASSHOUSE_LOOK=1 GLASSHOUSE_TABLES=10 $(BIN)/python -m pytest -q -n auto --dist worksteal tests/rooms/adversary

mutants: $(VENV)/developer ## break the package in more than ninety places, one at a time, and see that the tests notice
	@$(BIN)/python -m tests.mutants

fuzz: $(VENV)/developer ## damage tables, policies, questions and releases for ten minutes: each is taken or refused
	@$(BIN)/python -m tests.doors.fuzz 10

wheel: ## build a wheel and a source distribution into dist/, and try each in a fresh environment
	@$(PYTHON) -m tests.installs.artifacts

bare: $(VENV)/developer ## do what docs/get-started.md says in a bare Debian, with pip and the wheel alone (as root); ARGS=testing for a newer Python
	@$(BIN)/python -m tests.installs.bare $(ARGS)

compat: $(VENV)/developer ## run the tests with the lowest and the newest versions of everything; ARGS="lowest tests/rooms/cli" for less
	@$(BIN)/python -m tests.installs.compat $(ARGS)

check: $(VENV)/developer ## format, lint, types, import layers
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }

fix: $(VENV)/developer ## format and mend what can be mended
	@$(BIN)/python -m tests.architecture.public_names
	@$(BIN)/python -m tests.words.sentences
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

bench: $(VENV)/developer ## measure, as ratios to a physical limit or a peer (hours; GLASSHOUSE_BENCH_ROWS=20000 for less)
	@for script in $(filter-out benchmarks/measure.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/developer ## build the documentation into site/, and check that it needs no network and leads nowhere in vain
	@$(PIP) 'glasshouse[docs]'
	@$(BIN)/zensical build --clean --strict
	@$(BIN)/python -m tools.narrow_pages site
	@$(BIN)/python -m tools.built_site site

clean: ## remove everything that was built; compiled kernels stay in ~/.cache/glasshouse
	rm -rf $(VENV) build dist src/*.egg-info
	find src -name '*.so' -delete
