# make demo    set everything up and run the main job on the Python documentation
# make test    set everything up and run the tests
# make ladder    what each objective is worth on four collections: hours; continues where it was (RETROLEX_SHARED names the collections)
# make reproduce    run the recipes whose collections are here and check every figure they must reach; exit code 1 when one is missed
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test ladder reproduce lint check-native clean

demo: $(READY)
	HF_HUB_OFFLINE=1 $(BIN)/retrolex run recipes/demo.yaml

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# python-docs comes with retrolex; the others are looked for in $RETROLEX_SHARED/collections.
reproduce: $(READY)
	HF_HUB_OFFLINE=1 $(BIN)/retrolex reproduce recipes/python-docs.yaml
	@test -z "$$RETROLEX_SHARED" || for name in cranfield nfcorpus cosqa medquad-liveqa; do \
		HF_HUB_OFFLINE=1 $(BIN)/retrolex reproduce recipes/$$name.yaml --data "$$RETROLEX_SHARED/collections" || failed=1; done; \
		exit $${failed:-0}

ladder: $(READY)
	@test -n "$$RETROLEX_SHARED" || { echo "set RETROLEX_SHARED to the folder that holds collections/ and models/"; exit 2; }
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks.ladder --collections "$$RETROLEX_SHARED/collections" --models "$$RETROLEX_SHARED/models" --out runs/ladder

lint: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml setup.py constraints.txt $(wildcard native/*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[demo,dev]'
	touch $(READY)

# The kernel's own tests under the address and undefined-behaviour sanitizers.
check-native:
	mkdir -p build
	g++ -std=c++17 -O1 -g -Wall -Wextra -Wno-maybe-uninitialized -Wno-uninitialized -fsanitize=address,undefined -fno-sanitize-recover=all \
		-Inative native/*.cpp tests/native/test_kernels.cpp -o build/test_kernels
	build/test_kernels

clean:
	rm -rf $(VENV) build
