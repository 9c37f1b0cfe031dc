# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake: `make demo`, `make test` and `make test-all` set up what they need first.

PREFIX ?= /usr/local
DESTDIR ?=
# SEEDS: how many seeds `make torture` compares; FIRST: the first of them.
SEEDS ?= 2000
FIRST ?= 1
# KILLS: how many recorded programs and recorders `make kills` kills, with FIRST as its seed.
KILLS ?= 1000

.PHONY: build demo test test-all torture faults full-disk unchanged kills fuzz bench install package package-test aarch64 aarch64-test clean format tidy

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

# With what the sanitizers have seen in other tests already.
test-all:
	@scripts/setup test
	@scripts/test all

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

# build/packages: a tarball, a .deb, an .rpm and a wheel (docs/install.md), for this processor and for aarch64.
package:
	@scripts/setup package
	@$(MAKE) --no-print-directory build
	@scripts/package
	@if command -v aarch64-linux-gnu-gcc >/dev/null && [ "$$(uname -m)" != aarch64 ]; then \
		$(MAKE) --no-print-directory aarch64 && scripts/package build-aarch64; fi

# Headway for aarch64, by Debian's cross compiler and Debian's libraries.
aarch64:
	@scripts/sysroot-aarch64
	@cmake --preset aarch64 >/dev/null
	@cmake --build build-aarch64

# Its answers, exports and recordings under qemu-user, beside those of build/.
aarch64-test: build aarch64
	@tests/aarch64

# Installs each package into fresh systems; needs root, a network and minutes.
package-test:
	@scripts/setup package-test
	@$(MAKE) --no-print-directory package
	@tests/package_roots

clean:
	rm -rf build build-debug build-asan build-fuzz build-coverage build-aarch64

format:
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

tidy: build
	@scripts/tidy
