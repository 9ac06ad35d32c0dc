# `make test` and `make demo` are all a fresh machine needs: each sets up .venv first.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
READY  := $(VENV)/.ready

.PHONY: test lint demo study bench clean

test: lint
	$(BIN)/pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

demo: $(READY)
	$(BIN)/fuzzwise simulate --campaigns 30 --seed 1 --chart demo-out/urn.html
	$(BIN)/fuzzwise simulate --campaigns 30 --seed 1 --chart demo-out/urn.png --quiet
	@echo
	@echo "Charts: demo-out/urn.html (open it in a browser) and demo-out/urn.png"

# The study in docs/: every figure and table of it, from one seed.
study: $(READY)
	$(BIN)/python benchmarks/urn_study.py --out docs

bench: $(READY)
	$(BIN)/pytest benchmarks --benchmark-only

$(READY): pyproject.toml constraints.txt tools/setup.sh
	PYTHON="$(PYTHON)" sh tools/setup.sh $(VENV)
	touch $@

clean:
	rm -rf $(VENV) demo-out .mypy_cache .ruff_cache .pytest_cache .hypothesis
