# The front door: each target says in one line what it does, then does it. The build itself is CMake's (see CMakePresets.json).
#   make run     from a bare machine to a trained model          make test    from a bare machine to every test passed
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
NAME   ?=
TOPIC  ?= elementwise
TESTS  ?= .
BENCH  ?=
BASE   ?= main
OPTIMIZE ?= ON
CUDA_OPTIMIZE ?= ON
GPU_JOBS ?= 4
# A compiler cache, where there is one, serves build/ and build-cuda/, and every clone, alike.
export CCACHE_BASEDIR ?= $(CURDIR)

SOURCES = $(shell git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh')
say     = @printf '\n== %s\n' $(1)

.PHONY: help deps configure program build run test lint tidy bench asan tsan debug configure-cuda cuda check-gpu test-emulated test-races test-gpu bench-gpu gpu-kit install uninstall package format clean new-op
.DEFAULT_GOAL := help

help: ## list these targets
	@printf 'make TARGET, one of:\n'
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r t d; do printf '  %-15s %s\n' "$$t" "$$d"; done
	@printf 'variables: JOBS=%s TESTS=REGEX (of test names) BENCH=REGEX PREFIX=%s BASE=%s (tidy) NAME=x (new-op) OPTIMIZE=OFF CUDA_OPTIMIZE=OFF (cuda)\n' '$(JOBS)' '$(PREFIX)' '$(BASE)'

deps: ## install missing Debian packages (apt, by name) and Kokkos with OpenMP (private prefix in ~/.cache)
	$(call say,'deps: install what is missing')
	@bash cmake/deps.sh

configure: deps
	$(call say,'configure: release build in build/')
	@cmake --preset release -DMPITRON_OPTIMIZE=$(OPTIMIZE)

build: configure ## build build/bin/mpitron, tests and benchmarks (Release, this machine's instruction set)
	$(call say,'build: compile with $(JOBS) jobs')
	@cmake --build build -j $(JOBS)

program: configure
	$(call say,'program: compile build/bin/mpitron with $(JOBS) jobs')
	@cmake --build build -j $(JOBS) --target mpitron

run: program ## train a tokenizer and a small GPT on real English text, then let it write
	$(call say,'run: text -> vocabulary -> token files -> training -> sample; all files stay below build/quickstart')
	@bash jobs/quickstart.sh

test: deps lint build ## install what is missing, lint, build, run every test
	$(call say,'test: every test (GPU tests skip themselves without a GPU)')
	@bash tests/run.sh build '$(JOBS)' '$(TESTS)'

lint: deps ## check layers, formatting, style budget and contracts without compiling (a few seconds)
	$(call say,'lint: layers; formatting; style budget; numerical contracts')
	@python3 tests/lint/lint.py

tidy: deps ## run clang-tidy 14 on the files that differ from BASE
	$(call say,'tidy: clang-tidy on the .cpp files that differ from $(BASE)')
	@cmake --preset release -B build-tidy -DMPITRON_BATCHES=OFF -DMPITRON_PRECOMPILE=OFF >/dev/null
	@git diff --name-only --diff-filter=d $(BASE) -- '*.cpp' | xargs -r -P $(JOBS) -n 1 clang-tidy-14 -p build-tidy --quiet

bench: build ## run the benchmarks; figures into build/bench/summary.json and a table on the terminal
	$(call say,'bench: run every benchmark alone; merge the figures into build/bench/summary.json')
	@bash benchmarks/run.sh build '$(BENCH)'

debug asan tsan: deps ## build with this preset in build-NAME/ and run the tests there
	$(call say,'$@: build with preset $@ in build-$@/')
	@cmake --preset $@
	@cmake --build build-$@ -j $(JOBS)
	$(call say,'$@: every test')
	@ctest --preset $@ -j $(JOBS) --output-on-failure --no-label-summary -R '$(TESTS)'

configure-cuda: deps
	$(call say,'configure: CUDA build in build-cuda/')
	@cmake --preset cuda -DMPITRON_OPTIMIZE=$(OPTIMIZE) -DMPITRON_CUDA_OPTIMIZE=$(CUDA_OPTIMIZE)

cuda: configure-cuda ## compile build-cuda/bin/mpitron-cuda (needs nvcc, no GPU), and the tests of its kernels
	$(call say,'cuda: compile mpitron-cuda and the tests of CUDA code in build-cuda/')
	@cmake --build build-cuda -j $(JOBS) --target mpitron-cuda emulated_tests kernels_gpu_test

test-emulated: cuda ## run the tests of CUDA code on an emulated GPU (needs no GPU)
	$(call say,'test-emulated: tests labelled emulated')
	@ctest --preset cuda -L emulated -j $(JOBS) --output-on-failure --no-label-summary -R '$(TESTS)'

check-gpu: cuda ## check what the compiler made of GPU code: registers, stack, wide accesses (needs cuobjdump, no GPU)
	$(call say,'check-gpu: tests labelled ptxas')
	@ctest --preset cuda -L ptxas --output-on-failure --no-label-summary

test-races: configure-cuda ## look for races between the threads of a block in all kernels (emulated; needs no GPU)
	$(call say,'test-races: kernels under ThreadSanitizer')
	@cmake --build build-cuda -j $(JOBS) --target kernels_race_test
	@ctest --preset cuda -L races -j $(JOBS) --output-on-failure --no-label-summary

test-gpu: configure-cuda ## run the tests of kernels and recorded runs on a GPU (skipped with a message where there is none)
	$(call say,'test-gpu: tests labelled gpu')
	@cmake --build build-cuda -j $(JOBS) --target mpitron-cuda kernels_gpu_test
	@ctest --preset cuda -L gpu -j $(GPU_JOBS) --output-on-failure --no-label-summary -R '$(TESTS)'

bench-gpu: configure-cuda ## run the benchmarks of GPUs
	$(call say,'bench-gpu: run the benchmarks with the CUDA kernels')
	@cmake --build build-cuda -j $(JOBS) --target benchmarks
	@bash benchmarks/run.sh build-cuda '$(if $(BENCH),$(BENCH),^(gpu_|memory_kernels))'

gpu-kit: deps ## pack into gpu-kit.tar.xz what tests and measures a GPU on a machine with nothing but driver and CUDA's libraries
	$(call say,'gpu-kit: compile for sm_90a with CUDA alone; pack into gpu-kit.tar.xz')
	@cmake -S . -B build-gpu-kit -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPITRON_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90a-real \
	  -DMPITRON_ARCH=x86-64-v3 '-DMPITRON_LEAVE_OUT=MPI;HDF5;Kokkos;oneDNN;hwloc'
	@cmake --build build-gpu-kit -j $(JOBS) --target mpitron-cuda kernels_gpu_test gpu_step_bench gpu_attention_bench memory_kernels_bench
	@bash benchmarks/gpu_kit/collect.sh build-gpu-kit gpu-kit "$${MPITRON_GOLDEN_DIR:-tests/golden}/curves"

install: ## install what is built below PREFIX: program, manual pages, completion, job scripts (no root, no apt)
	$(call say,'install: program, pages, completion, jobs and documentation to $(PREFIX)')
	@if ! [ -x build/bin/mpitron ]; then cmake --preset release && cmake --build build -j $(JOBS) --target mpitron; fi
	@cmake --install build --prefix '$(PREFIX)'
	@if [ -x build-cuda/bin/mpitron-cuda ]; then cmake -E copy build-cuda/bin/mpitron-cuda '$(PREFIX)/bin/'; fi

uninstall: ## remove what the last `make install` copied
	$(call say,'uninstall: remove every file of build/install_manifest.txt, and folders that it leaves empty')
	@bash packaging/uninstall.sh build/install_manifest.txt '$(PREFIX)'

package: program ## make build/*.deb, and build/*.tar.gz, which holds its libraries and runs from any folder
	$(call say,'package: Debian package and tarball in build/')
	@cd build && cpack -G DEB
	@bash packaging/tarball.sh build

format: deps ## format every source file with clang-format 14
	$(call say,'format: clang-format 14 on every source file')
	@clang-format-14 -i $(SOURCES)

clean: ## remove the build folders (the Kokkos of ~/.cache stays)
	$(call say,'clean: remove build/ and build-*/')
	@rm -rf build build-debug build-asan build-tsan build-cuda

new-op: ## write the seven files of a new op: make new-op NAME=x
	$(call say,'new-op: write the files of op "$(NAME)"')
	@bash cmake/new-op.sh '$(NAME)' '$(TOPIC)'
