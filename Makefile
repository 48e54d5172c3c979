# make lab · test · full · build · check · grade · bench · release      ARGS=… is passed on

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ROOT_USER := $(if $(filter 0,$(shell id -u)),--allow-root)
export JUPYTER_PLATFORM_DIRS = 1

.PHONY: lab test full build check grade bench release setup environment lock screenshots clean
.DEFAULT_GOAL := lab

environment:
	@$(PYTHON) tools/bootstrap.py $(VENV)

setup: environment                       # the environment and the model, both once
	@$(BIN)/ctxcourse model fetch

lab: setup                               # open the workbook
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/jupyter lab $(ROOT_USER) --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(ARGS)

test: setup                              # everything but the long runs
	@$(BIN)/python -m pytest -m "not full" tests $(ARGS)
	@$(BIN)/python -m pytest --nbval notebooks solutions $(ARGS)

full: setup                              # the long runs: hundreds of answers and a tenth of every shipped run, again
	@$(BIN)/python -m pytest -m full tests $(ARGS)

build: setup                             # lessons/ -> notebooks/ exercises/ solutions/
	@$(BIN)/python -m ctxcourse.authoring.build $(ARGS)

check: environment                       # lint, types, generated files in step: under a minute
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m ctxcourse.authoring.build --check

grade: setup                             # make grade ARGS="submissions/ --grades grades.csv"
	@$(BIN)/ctxcourse grade $(ARGS)

bench: setup                             # the figures in benchmarks/; compiles llama.cpp the first time
	@$(BIN)/python -c "import llama_cpp, langchain_core, llama_index.core, haystack, langchain_community, datasketch" 2>/dev/null || $(BIN)/python -m pip install -c constraints.txt -e ".[bench]"
	@$(BIN)/python benchmarks/start_up.py
	@$(BIN)/python benchmarks/store.py
	@$(BIN)/python benchmarks/products.py
	@$(BIN)/python benchmarks/attention.py
	@$(BIN)/python benchmarks/widgets.py
	@$(BIN)/python benchmarks/ordering.py
	@$(BIN)/python benchmarks/history.py
	@$(BIN)/python benchmarks/toolset.py
	@$(BIN)/python benchmarks/edge_cases.py
	@$(BIN)/python benchmarks/agent_probes.py
	@$(BIN)/python benchmarks/quick.py
	@$(BIN)/python benchmarks/prefix_profile.py
	@$(BIN)/python benchmarks/prefix_reuse.py --to-the-limit --only growing60 --rounds 1 --sides plain,ours --output benchmarks/prefix_reuse_to_the_limit
	@$(BIN)/python benchmarks/prefix_reuse.py $(ARGS)

release: environment                     # make release ARGS=../course-for-students
	@$(BIN)/ctxcourse release $(ARGS)

screenshots: setup                       # the pictures of the README, from the running pages
	@$(BIN)/python tools/screenshots.py

lock: environment                        # write the versions of everything installed to constraints.txt
	@$(BIN)/python tools/lock.py > constraints.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
