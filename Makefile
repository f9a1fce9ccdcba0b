# The front door. Every target installs what it needs first; see scripts/install-dependencies.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
DEMO ?= build/demo

export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)
# What one clone has compiled, another need not compile again.
export CCACHE_BASEDIR = $(CURDIR)
export CCACHE_NOHASHDIR = 1
need = @scripts/install-dependencies
configure = cmake --preset $(1) $(2) >/dev/null

.DEFAULT_GOAL := help
.PHONY: help build demo test e2e bench bench-e2e bench-up lint format fuzz asan tsan clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Tests stay configured once `make test` has asked for them, so that going to and fro rebuilds nothing.
build: ## the release binary, at bin/gantree
	$(need) build
	@$(call configure,release,$(if $(wildcard build/release/CMakeCache.txt),,-DGANTREE_TESTS=OFF))
	@cmake --build --preset release --target gantree
	@install -D build/release/apps/gantree/gantree bin/gantree
	@ln -sf gantree bin/kubectl-gantree

demo: build ## a cluster of 512 GPU hosts on this machine, jobs of all kinds on it, and a live view
	@examples/demo $(DEMO)

test: ## build and run every test
	$(need) build test e2e
	@$(call configure,release,-DGANTREE_TESTS=ON)
	@cmake --build --preset release
	@install -D build/release/apps/gantree/gantree bin/gantree
	@scripts/run-tests build/release --e2e

e2e: build ## only the end-to-end tests, on the embedded cluster and on a real Kubernetes control plane
	$(need) e2e
	@scripts/run-e2e $(E2E)

bench: ## measure, on clusters of up to 100,000 nodes
	$(need) build bench
	@$(call configure,bench)
	@cmake --build --preset bench
	@scripts/run-benchmarks build/bench

bench-e2e: ## measure the scheduler on a real control plane, with 5,000 and 20,000 nodes, and 15,000 workloads in queues; half an hour
	$(need) build bench e2e
	@$(call configure,bench)
	@cmake --build --preset bench --target gantree pod_load workload_load bare_admission
	@"$$(scripts/e2e-python)" bench/e2e/pods.py build/bench/apps/gantree/gantree build/bench/bench/pod_load $(BENCH_E2E)
	@"$$(scripts/e2e-python)" bench/e2e/queues.py build/bench/apps/gantree/gantree build/bench/bench/pod_load build/bench/bench/workload_load build/bench/bench/bare_admission

bench-up: ## measure the embedded cluster as an API server, beside a real kube-apiserver with etcd; ten minutes
	$(need) build bench e2e
	@$(call configure,bench)
	@cmake --build --preset bench --target gantree api_load
	@"$$(scripts/e2e-python)" bench/e2e/up.py build/bench/apps/gantree/gantree build/bench/bench/api_load $(BENCH_UP)

lint: ## formatting, clang-tidy, and the rules of the house
	$(need) build test lint
	@$(call configure,dev)
	@scripts/lint build/dev

format: ## rewrite the sources as .clang-format says
	$(need) lint
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

fuzz: ## fuzz every parser, FUZZ_SECONDS (600) each
	$(need) build test fuzz
	@$(call configure,asan)
	@cmake --build --preset asan --target fuzzers
	@scripts/run-fuzzers build/asan $(FUZZ_SECONDS)

# Its libraries are those of `make fuzz` too.
asan: ## every test but the end-to-end ones under the address and undefined-behaviour sanitizers
	$(need) build test fuzz
	@$(call configure,asan)
	@cmake --build --preset asan
	@scripts/run-tests build/asan

tsan: ## every test but the end-to-end ones under the thread sanitizer
	$(need) build test
	@$(call configure,tsan)
	@cmake --build --preset tsan
	@scripts/run-tests build/tsan

clean: ## remove all that was built
	rm -rf build bin
