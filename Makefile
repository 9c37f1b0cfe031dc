# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake: `make demo` and `make test` set up what they need first.

PREFIX ?= /usr/local
DESTDIR ?=
# SEEDS: how many seeds `make torture` compares; FIRST: the first of them.
SEEDS ?= 2000
FIRST ?= 1
# KILLS: how many recorded programs and recorders `make kills` kills, with FIRST as its seed.
KILLS ?= 1000

.PHONY: build demo test torture faults full-disk unchanged kills fuzz bench install clean format tidy

build: build/build.ninja
	@cmake --build build

build/build.ninja:
	@cmake --preset release

demo:
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	@scripts/demo

test:
	@scripts/setup test
	@scripts/test

torture: build
	@tests/torture/run --first $(FIRST) --seeds $(SEEDS)

faults: build
	@tests/faults/run

unchanged: build
	@HEADWAY="$(CURDIR)/build/headway" DATA="$(CURDIR)/tests/data" ALL=1 bash tests/cli/unchanged_programs.sh

# SECONDS of fuzzing in all; what reaches new code is added to tests/fuzz/corpus.
SECONDS ?= 600
fuzz:
	@scripts/setup test
	@cmake --preset fuzz
	@cmake --build build-fuzz
	@cmake --preset coverage
	@cmake --build build-coverage
	@tests/fuzz/run $(SECONDS)

kills: build
	@tests/kills $(KILLS) $(FIRST)

full-disk: build
	@tests/full_disk 100

bench:
	@scripts/setup test
	@cmake --preset release -DHEADWAY_BENCH=ON
	@cmake --build build
	@bench/run

install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

clean:
	rm -rf build build-debug build-asan build-fuzz build-coverage

format:
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

tidy: build
	@scripts/tidy
