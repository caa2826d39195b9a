# The front door: each target says in one line what it does, then does it. The build itself is CMake's (see CMakePresets.json).
#   make run     from a bare machine to a trained model          make test    from a bare machine to every test passed
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
NAME   ?=
TESTS  ?= .
BENCH  ?=
BASE   ?= main
CUDA_OPTIMIZE ?= ON
# A compiler cache, where there is one, serves build/ and build-cuda/, and every clone, alike.
export CCACHE_BASEDIR ?= $(CURDIR)

SOURCES = $(shell git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh')
say     = @printf '\n== %s\n' $(1)

.PHONY: help deps configure build run test lint tidy bench asan tsan debug cuda check-gpu test-emulated test-gpu bench-gpu install format clean new-op
.DEFAULT_GOAL := help

help: ## list these targets
	@printf 'make TARGET, one of:\n'
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r t d; do printf '  %-15s %s\n' "$$t" "$$d"; done
	@printf 'variables: JOBS=%s TESTS=REGEX (of test names) BENCH=REGEX PREFIX=%s BASE=%s (tidy) NAME=x (new-op) CUDA_OPTIMIZE=OFF (cuda)\n' '$(JOBS)' '$(PREFIX)' '$(BASE)'

deps: ## install missing Debian packages (apt, by name) and Kokkos with OpenMP (private prefix in ~/.cache)
	$(call say,'deps: install what is missing')
	@bash cmake/deps.sh

configure: deps
	$(call say,'configure: release build in build/')
	@cmake --preset release

build: configure ## build build/bin/mpitron, tests and benchmarks (Release, this machine's instruction set)
	$(call say,'build: compile with $(JOBS) jobs')
	@cmake --build build -j $(JOBS)

run: build ## train a tokenizer and a small GPT on real English text, then let it write
	$(call say,'run: text -> vocabulary -> token files -> training -> sample; all files stay below build/quickstart')
	@bash jobs/quickstart.sh

test: deps lint build ## install what is missing, lint, build, run every test
	$(call say,'test: every test (GPU tests skip themselves without a GPU)')
	@bash tests/run.sh build '$(JOBS)' '$(TESTS)'

lint: deps ## check layers, formatting, style budget and contracts without compiling (a few seconds)
	$(call say,'lint: layers; formatting; style budget; numerical contracts')
	@python3 tests/lint/lint.py

tidy: configure ## run clang-tidy 14 on the files that differ from BASE
	$(call say,'tidy: clang-tidy on the .cpp files that differ from $(BASE)')
	@git diff --name-only --diff-filter=d $(BASE) -- '*.cpp' | xargs -r -P $(JOBS) -n 1 clang-tidy-14 -p build --quiet

bench: build ## run the benchmarks; figures into build/bench/summary.json and a table on the terminal
	$(call say,'bench: run every benchmark alone; merge the figures into build/bench/summary.json')
	@bash benchmarks/run.sh build '$(BENCH)'

debug asan tsan: deps ## build with this preset in build-NAME/ and run the tests there
	$(call say,'$@: build with preset $@ in build-$@/')
	@cmake --preset $@
	@cmake --build build-$@ -j $(JOBS)
	$(call say,'$@: every test')
	@ctest --preset $@ -j $(JOBS) --output-on-failure --no-label-summary -R '$(TESTS)'

cuda: deps ## compile build-cuda/bin/mpitron-cuda (needs nvcc, no GPU), and the tests of its kernels
	$(call say,'cuda: compile mpitron-cuda and the tests of CUDA code in build-cuda/')
	@cmake --preset cuda -DMPITRON_CUDA_OPTIMIZE=$(CUDA_OPTIMIZE)
	@cmake --build build-cuda -j $(JOBS) --target mpitron-cuda emulated_tests kernels_gpu_test

test-emulated: cuda ## run the tests of CUDA code on an emulated GPU (needs no GPU)
	$(call say,'test-emulated: tests labelled emulated')
	@ctest --preset cuda -L emulated -j $(JOBS) --output-on-failure --no-label-summary -R '$(TESTS)'

check-gpu: cuda ## check what the compiler made of GPU code: registers, stack, wide accesses (needs cuobjdump, no GPU)
	$(call say,'check-gpu: tests labelled ptxas')
	@ctest --preset cuda -L ptxas --output-on-failure --no-label-summary

test-gpu: cuda ## run the tests labelled gpu (skipped with a message where there is no GPU)
	$(call say,'test-gpu: tests labelled gpu')
	@ctest --preset cuda -L gpu --output-on-failure --no-label-summary --no-tests=ignore

bench-gpu: cuda ## run the benchmarks of the CUDA build
	$(call say,'bench-gpu: run the benchmarks with the CUDA kernels')
	@cmake --build build-cuda -j $(JOBS)
	@bash benchmarks/run.sh build-cuda '$(BENCH)'

install: build ## install the program below PREFIX
	$(call say,'install: copy the program to $(PREFIX)')
	@cmake --install build --prefix '$(PREFIX)'
	@if [ -x build-cuda/bin/mpitron-cuda ]; then cmake --install build-cuda --prefix '$(PREFIX)'; fi

format: deps ## format every source file with clang-format 14
	$(call say,'format: clang-format 14 on every source file')
	@clang-format-14 -i $(SOURCES)

clean: ## remove the build folders (the Kokkos of ~/.cache stays)
	$(call say,'clean: remove build/ and build-*/')
	@rm -rf build build-debug build-asan build-tsan build-cuda

new-op: ## write the seven files of a new op: make new-op NAME=x
	$(call say,'new-op: write the files of op "$(NAME)"')
	@bash cmake/new-op.sh '$(NAME)'
