# `make test` and `make demo` are all a fresh machine needs: each sets up .venv first.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
READY  := $(VENV)/.ready

.PHONY: test check fast lint demo tour pictures campaign-study study bench real-study real-pages real-keep stop-study unseen-study real-speed afl-study dataset dataset-keep scheduler-study spend-study spend-record spend-keep shape fuzz-readers uncompiled clean

# Hundreds of Python processes start: what they import is compiled once, also where that is not the
# default.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --dist worksteal

# Two more than there are cores, since campaigns in tests often wait.
test: lint
	$(PYTEST) -n 4

# What can be said within a minute: all that starts no process, beside ruff and mypy.
check: $(READY)
	$(MAKE) --no-print-directory --jobs 2 lint fast

fast: $(READY)
	$(PYTEST) -n 2 -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# 19 targets, some with known bugs, some without, for two minutes on two cores. Exit code 11 says that
# the time was over before every risk was accepted, as it is meant to be here.
demo: $(READY)
	@rm -rf demo-out
	$(BIN)/fuzzwise run examples/campaign.toml || [ $$? -eq 11 ]
	@$(BIN)/fuzzwise report demo-out/campaign -o demo-out/report.html
	@echo "Open demo-out/report.html in a browser."

# The other commands: one target, simulation, estimation, and FuzzSim's three steps.
tour: $(READY)
	@echo "== Fuzz a target until its residual risk is below 1 in 10,000 =="
	@rm -rf tour-out && mkdir -p tour-out
	$(BIN)/fuzzwise build examples/bad.c -o tour-out/bad
	$(BIN)/fuzzwise fuzz tour-out/bad --accept-risk 1e-4 --time 60s --out tour-out/bad-campaign
	@echo
	@echo "== Fuzzing campaigns with and without feedback, simulated with known truth =="
	$(BIN)/fuzzwise simulate --seed 1 --chart tour-out/urn.html --chart tour-out/urn.png
	@echo
	@echo "== What an observer of one of them can say, and whether it may stop =="
	@$(BIN)/fuzzwise simulate --campaigns 1 --inputs 5000 --snapshots tour-out/one.jsonl > /dev/null
	$(BIN)/fuzzwise estimate tour-out/one.jsonl --accept-risk 1e-4
	@echo
	@echo "== Three small programs with ten seed files: which scheduler finds most bugs? =="
	@cp -r examples tour-out/examples
	cc -g -O1 -fstack-protector-strong -o tour-out/records examples/records.c
	cc -g -O1 -fstack-protector-strong -o tour-out/shapes examples/shapes.c
	cc -g -O1 -fstack-protector-strong -o tour-out/sums examples/sums.c
	$(BIN)/fuzzwise record tour-out/examples/recording.toml --time 3s --out tour-out/recording
	$(BIN)/fuzzwise triage tour-out/recording --trust-command
	$(BIN)/fuzzwise replay tour-out/recording --scheduler paper --scheduler newer \
	    --repeats 20 --chart tour-out/bugs.html
	@echo
	@echo "Open tour-out/urn.html and tour-out/bugs.html in a browser for the charts."

# The pictures of the README, from the campaign of the demo; the pages need chromium.
pictures: $(READY)
	$(BIN)/python tools/pictures.py demo-out/campaign docs/figures

# The study in docs/: every figure and table of it, from one seed.
study: $(READY)
	$(BIN)/python benchmarks/urn_study.py --out docs

bench: $(READY)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/replay_speed.py
	$(BIN)/python benchmarks/growth_replay_speed.py
	$(BIN)/python benchmarks/optimum_speed.py
	$(BIN)/python benchmarks/blackbox_speed.py
	$(BIN)/python benchmarks/store_speed.py
	$(BIN)/python benchmarks/serve_speed.py
	$(BIN)/python benchmarks/campaign_speed.py
	$(BIN)/python benchmarks/watch_speed.py
	$(BIN)/python benchmarks/afl_speed.py
	$(BIN)/python benchmarks/python_speed.py
	$(BIN)/python benchmarks/durability_cost.py
	$(BIN)/python benchmarks/many_seeds.py

# Damaged files of every format that is read, 20,000 of each; hours. CASES=1000 for fewer.
CASES ?= 20000
fuzz-readers: $(READY)
	FUZZWISE_CUTS=500 FUZZWISE_KILLS=100 FUZZWISE_PLANTED=100 $(PYTEST) \
	    $(addprefix tests/test_,power_cut.py stock_counts.py run_kills.py fuzz.py triage_planted.py)
	$(BIN)/python tools/fuzz_readers.py --cases $(CASES)

# Real libraries, fetched from Debian and built: the first for some hours, from where it was stopped, the second for
# one.
real-study: $(READY)
	$(BIN)/python benchmarks/real_truth.py --out docs

# The pages of real-study and stop-study from the campaigns that there are; some minutes.
real-pages: $(READY)
	$(BIN)/python benchmarks/real_truth.py --no-record --out docs
	$(BIN)/python benchmarks/stop_study.py --out docs

# Adds what real-study has recorded to datasets/real-libraries.jsonl.gz.
real-keep: $(READY)
	$(BIN)/python benchmarks/kept_campaigns.py

# Forecasts and stop rules on the campaigns that real-study has recorded; a few minutes.
stop-study: $(READY)
	$(BIN)/python benchmarks/stop_study.py --out docs

# The same of libraries that played no part in choosing anything; two hours, less what is kept already.
unseen-study: $(READY)
	$(BIN)/python benchmarks/unseen.py --out docs --keep

# What observing costs, an hour; and what is covered in equal time, hours for all of it, from where it was stopped.
real-speed: $(READY)
	$(BIN)/python benchmarks/real_speed.py --out docs
	$(BIN)/python benchmarks/equal_time.py
	$(BIN)/python benchmarks/equal_time.py --page

# The same libraries under AFL++ (afl-fuzz, afl-clang-fast), which must be installed.
afl-study: $(READY)
	$(BIN)/python benchmarks/afl_truth.py --out docs

# Programs of Debian, installed and recorded for as long as one likes, five minutes each less what datasets/blackbox
# has; and those that are whole triaged, added to it, and told of in docs/dataset.md.
CORES ?= 1
dataset: $(READY)
	$(BIN)/python benchmarks/dataset.py --cores $(CORES)

dataset-keep: $(READY)
	$(BIN)/python benchmarks/kept_blackboxes.py --jobs $(CORES)
	$(BIN)/python benchmarks/dataset_page.py

# Every scheduler on datasets/small-programs.fuzzlog and on synthetic recordings.
scheduler-study: $(READY)
	$(BIN)/python benchmarks/scheduler_study.py --out docs

# Some twenty targets of real libraries, recorded alone and replayed: ten hours on an idle core less what
# datasets/growth has, from where it was stopped. LIVE=2 has two pairs of live campaigns on each half
# and on libraries that are in no recording, too.
LIVE ?= 0
spend-study: $(READY)
	$(BIN)/python benchmarks/spend_study.py --out docs --live $(LIVE)

# The recordings of spend-study alone, for as long as one likes, and those that are whole added to datasets/growth,
# with the live campaigns.
spend-record: $(READY)
	$(BIN)/python benchmarks/spend_study.py --only-record

spend-keep: $(READY)
	$(BIN)/python benchmarks/kept_growth.py

# Live campaigns with the default scheduler and with Round-Robin; 20 minutes on an idle machine.
campaign-study: $(READY)
	rm -f campaign-study.jsonl
	$(BIN)/python benchmarks/campaign_study.py --budget 60 --out docs

$(READY): pyproject.toml constraints.txt tools/setup.sh
	PYTHON="$(PYTHON)" sh tools/setup.sh $(VENV)
	touch $@

# How large the source is and who imports whom, now and before its layers; in docs/architecture.md.
shape: $(READY)
	$(BIN)/python tools/shape.py --beside 2ebf4a9 --write docs/architecture.md

# What numba compiled and kept; it does not notice when a constant of another file has changed.
uncompiled:
	find src -name '*.nb[ci]' -delete

clean: uncompiled
	rm -rf $(VENV) demo-out tour-out dataset-work .mypy_cache .ruff_cache .pytest_cache .hypothesis
