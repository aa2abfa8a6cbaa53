# A thin layer over CMake presets: what a newcomer types. `make help` lists it.
.DEFAULT_GOAL := build
.PHONY: help setup build demo docs-pictures test test-release test-asan test-clang test-tsan golden fuzz bench web test-web test-blender install package format clean

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 600
DEMO_SCENE ?= scenes/sphere/scene.json
DEMO_OUT ?= out/demo
CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)
# Too slow under sanitizers, or (the window) in the hands of the graphics driver. Four compare results of one run with another's; the two benchmarks run whole scenes, whose code the unit tests run under
# sanitizers, and of the two commands' own code cli.bench_tiny runs the rest there; a drape takes minutes, and unit.test_dress runs most of it.
ASAN_LEAVES_OUT = cli.(interrupt|threads|resume|drape|bench_fidelity|bench_stress|fabric|view)|test_remeshing

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1|/p' Makefile | awk -F'|' '{printf "  make %-13s %s\n", $$1, $$2}'

setup:  ## install missing Debian packages (root or sudo; otherwise prints the command)
	@tools/setup.sh

.PHONY: setup-build
setup-build:  # without what only the tests need: the demo is quicker on a fresh machine
	@tools/setup.sh --build

build: setup-build  ## the program, at build/release/toile
	@cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target toile

demo: build  ## simulate a scene, make a film, a page of pictures and a diagram of it
	@rm -rf $(DEMO_OUT)
	build/release/toile run $(DEMO_SCENE) --out $(DEMO_OUT)
	build/release/toile check $(DEMO_OUT)
	@tools/demo_pictures.sh $(DEMO_OUT) $(DEMO_OUT) build/release/toile
	@echo "meshes:  $(DEMO_OUT)/frames/*.obj"

.PHONY: demo-dress
DRESS_OUT ?= out/demo-dress
demo-dress: build  ## sew a dress, dress a woman in it and let her walk; a film, pictures and how it fits
	build/release/toile drape scenes/patterns/dress.json --body scenes/walk/body.glb --motion walk --quality draft -o $(DRESS_OUT)
	@tools/demo_pictures.sh $(DRESS_OUT) $(DRESS_OUT) build/release/toile
	@echo "the fit: $(DRESS_OUT)/fit.html"

test: setup test-release test-asan test-clang-unit test-tsan-short  ## everything that has to hold (CI runs this)
	@echo "test: all passed"

.PHONY: test-all
test-all: test fuzz-short test-web  ## the same, and what takes longer: readers under libFuzzer, the page
	@echo "test-all: all passed"

test-release: setup build  ## unit, golden, command line, header and include-graph tests, optimised
	@cmake --build --preset release -j $(JOBS)
	@cd build/release && $(CTEST)

test-asan: setup  ## unit and command line tests under address and undefined-behaviour sanitizers
	@cmake --preset asan > /dev/null && cmake --build --preset asan -j $(JOBS)
	@cd build/asan && $(CTEST) -L 'unit|cli' -E '$(ASAN_LEAVES_OUT)'

# The longest: without them the clang build's unit tests take a minute of processor time.
CLANG_LEAVES_OUT = unit.test_(flesh|sim|edge_trees_cloth|pinch|remeshing_rest|bvh|budget|remeshing|fast_bodies|cancel|solver|sqrt3.*|zones|contact.*|delaunay)$$
test-clang: setup  ## a clang build without a warning
	@cmake --preset clang > /dev/null && cmake --build --preset clang -j $(JOBS)

.PHONY: test-clang-unit
test-clang-unit: test-clang  ## unit tests of the clang build, but for the longest
	@cd build/clang && $(CTEST) -L unit -E '$(CLANG_LEAVES_OUT)'

.PHONY: test-tsan-short
test-tsan-short: setup  ## a few unit tests under the thread sanitizer (TL_CORE_TESTS in tests/CMakeLists.txt)
	@cmake --preset tsan > /dev/null && cmake --build --preset tsan -j $(JOBS) --target tsan_tests
	@cd build/tsan && $(CTEST) -L threads

test-tsan: setup  ## all unit tests under the thread sanitizer (not part of `make test`)
	@cmake --preset tsan > /dev/null && cmake --build --preset tsan -j $(JOBS)
	@cd build/tsan && $(CTEST) -L unit

golden: setup  ## record the state hashes of tests/golden anew and say which moved
	@cmake --preset release > /dev/null && cmake --build --preset release -j $(JOBS) --target golden
	@build/release/golden . --record

fuzz: setup  ## every reader under libFuzzer, SECONDS=600 each
	@cmake --preset fuzz > /dev/null && cmake --build --preset fuzz -j $(JOBS)
	@tools/fuzz.sh $(SECONDS) $(JOBS)

.PHONY: fuzz-short
fuzz-short:  # the same inputs every time: a finding here is a change's own
	@FUZZ_FLAGS='-seed=1 -runs=20000' $(MAKE) --no-print-directory fuzz SECONDS=10

docs-pictures: build  ## the pictures of README.md and docs/ again; NAMES="curtain silk" or NAMES=--all
	@tools/docs_pictures.sh $(NAMES)

bench: build  ## time per step, growth with size, gain from threads, memory
	build/release/toile bench dynamics --save

# Debian's emscripten finds its JavaScript packages there whatever node runs it.
WEB_ENV = NODE_PATH=/usr/share/nodejs

web:  ## the page at web/dist, the simulator in it as WebAssembly (docs/web.md); `toile serve` shows it
	@tools/setup.sh --web
	@$(WEB_ENV) cmake --preset wasm > /dev/null && $(WEB_ENV) cmake --build --preset wasm -j $(JOBS)
	@mkdir -p web/public/core && cp build/wasm/toile-web*.mjs build/wasm/toile-web*.wasm build/wasm/toile-web*.js web/public/core/
	@cd web && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error; } && npm run --silent build

.PHONY: test-view
test-view: setup build  ## the window under Xvfb (also part of `make test`)
	@cmake --build --preset release -j $(JOBS) --target json_get
	@cd build/release && ctest --output-on-failure --no-tests=error -R '^cli.view$$'

.PHONY: test-sweep
test-sweep: build  ## 200 runs on two cores, killed three times, and through Slurm where it is installed; the same bytes
	@sh tests/sweep_long.sh $(CURDIR)/build/release/toile
	@sh tests/slurm.sh $(CURDIR)/build/release/toile 200 || [ $$? = 77 ]

test-web: build web  ## the page in Chromium, native and WebAssembly state hashes (part of `make test-all`, not of `make test`)
	@cd web && npm test

PREFIX ?= /usr/local
DESTDIR ?=
install: build  ## program, libraries, headers, fabrics, manual page, completion into PREFIX=/usr/local
	@cmake --build --preset release -j $(JOBS) --target toile toile_lib toile_shared toile_core toile_core_shared manuals
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

package: build  ## a .deb and a .tar.gz of that at build/release/packages
	@cmake --build --preset release -j $(JOBS) --target toile toile_lib toile_shared toile_core toile_core_shared manuals
	@cd build/release && cpack

test-blender: build  ## the Blender add-on in Blender without a window, 606 MiB of it (not part of `make test`)
	@command -v blender > /dev/null 2>&1 || { echo "blender is missing: apt-get install --no-install-recommends blender" >&2; exit 1; }
	@rm -rf out/blender
	PYTHONDONTWRITEBYTECODE=1 blender -b --factory-startup --python-exit-code 1 --python bindings/blender/tests/test_addon.py -- $(CURDIR)/build/release/toile $(CURDIR)/out/blender
	PYTHONDONTWRITEBYTECODE=1 blender -b --factory-startup --python-exit-code 1 --python bindings/blender/tests/test_exports.py -- $(CURDIR)/build/release/toile $(CURDIR)/out/blender
	@echo "look at out/blender/ball.png"

format:  ## clang-format over our C
	@tools/format.sh

clean:  ## remove everything built
	rm -rf build
