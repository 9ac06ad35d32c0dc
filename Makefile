# `make test` and `make demo` are all a fresh machine needs: each sets up .venv first.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
READY  := $(VENV)/.ready

.PHONY: test lint demo study bench real-study real-speed dataset scheduler-study clean

test: lint
	$(BIN)/pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

demo: $(READY)
	@echo "== Fuzz a target until its residual risk is below 1 in 10,000 =="
	@rm -rf demo-out && mkdir -p demo-out
	$(BIN)/fuzzwise build examples/bad.c -o demo-out/bad
	$(BIN)/fuzzwise fuzz demo-out/bad --accept-risk 1e-4 --time 60s --out demo-out/bad-campaign
	@echo
	@echo "== Fuzzing campaigns with and without feedback, simulated with known truth =="
	$(BIN)/fuzzwise simulate --seed 1 --chart demo-out/urn.html --chart demo-out/urn.png
	@echo
	@echo "== What an observer of one of them can say, and whether it may stop =="
	@$(BIN)/fuzzwise simulate --campaigns 1 --inputs 5000 --snapshots demo-out/one.jsonl > /dev/null
	$(BIN)/fuzzwise estimate demo-out/one.jsonl --accept-risk 1e-4
	@echo
	@echo "== Three small programs with ten seed files: which scheduler finds most bugs? =="
	@cp -r examples demo-out/examples
	cc -g -O1 -fstack-protector-strong -o demo-out/records examples/records.c
	cc -g -O1 -fstack-protector-strong -o demo-out/shapes examples/shapes.c
	cc -g -O1 -fstack-protector-strong -o demo-out/sums examples/sums.c
	$(BIN)/fuzzwise record demo-out/examples/recording.toml --time 3s --out demo-out/recording
	$(BIN)/fuzzwise triage demo-out/recording
	$(BIN)/fuzzwise replay demo-out/recording --scheduler paper --scheduler newer \
	    --repeats 20 --chart demo-out/bugs.html
	@echo
	@echo "Open demo-out/urn.html and demo-out/bugs.html in a browser for the charts."

# The study in docs/: every figure and table of it, from one seed.
study: $(READY)
	$(BIN)/python benchmarks/urn_study.py --out docs

bench: $(READY)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/replay_speed.py
	$(BIN)/python benchmarks/optimum_speed.py
	$(BIN)/python benchmarks/blackbox_speed.py

# Real libraries, fetched from Debian and built; about half an hour each.
real-study: $(READY)
	$(BIN)/python benchmarks/real_truth.py --out docs

real-speed: $(READY)
	$(BIN)/python benchmarks/real_speed.py --out docs

# Programs of Debian, installed and recorded on two cores for about an hour; resumes.
dataset: $(READY)
	$(BIN)/python benchmarks/dataset.py

# Every scheduler on that data set and on synthetic recordings.
scheduler-study: $(READY)
	$(BIN)/python benchmarks/scheduler_study.py --out docs

$(READY): pyproject.toml constraints.txt tools/setup.sh
	PYTHON="$(PYTHON)" sh tools/setup.sh $(VENV)
	touch $@

clean:
	rm -rf $(VENV) demo-out dataset-work .mypy_cache .ruff_cache .pytest_cache .hypothesis
