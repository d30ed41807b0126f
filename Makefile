# layoutd: build, run, test. Two commands matter: `make run` and `make test`; both install what they need first.
#
#   make            build/layoutd and build/layoutd-worker
#   make run        install what is missing, build, start the daemon, print its URL
#   make test       everything that can be tested without a GPU; ends with "N passed, N failed"
#   make lint       clang-format, warnings as errors with gcc and clang, cppcheck
#   make fuzz       each fuzz target for FUZZ_SECONDS (20)
#   make docs       docs/operations.md from the table of operations
#   make bench      each figure as a fraction of a ceiling measured in the same run
#   make SAN=address,undefined test     the same under sanitizers, in build/san-address-undefined
#   make CONFIG=debug                   no optimisation, in build/debug

CC      ?= gcc
CONFIG  ?= release
SAN     ?=
comma   := ,

ifneq ($(SAN),)
  BUILD := build/san-$(subst $(comma),-,$(SAN))
  OPT   := -O1 -g -fno-omit-frame-pointer -fsanitize=$(SAN) -fno-sanitize-recover=all
  LDSAN := -fsanitize=$(SAN)
else ifeq ($(CONFIG),debug)
  BUILD := build/debug
  OPT   := -O0 -g
else ifeq ($(CONFIG),release)
  BUILD := build
  OPT   := -O3 -g
else
  BUILD := build/$(CONFIG)
  OPT   := -O3 -g
endif
OBJ := $(BUILD)/obj

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
ifdef CI
  WARN += -Werror
endif
PKG    := libmicrohttpd libcjson sqlite3 libcurl libsodium zlib
CUDA   ?= $(firstword $(wildcard /usr/local/cuda /opt/cuda /usr/lib/cuda))
CFLAGS ?= $(OPT)
BASE   := -std=c17 -D_GNU_SOURCE $(WARN) $(CFLAGS) -pthread
LIBS    = $(shell pkg-config --libs $(PKG)) -ldl -lm -pthread $(LDSAN)
SYSINC  = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PKG)))
# CUDA is needed for its headers alone; without them the binaries have only the CPU executor.
CUDAINC = $(if $(wildcard $(CUDA)/include/cuda.h),-isystem $(CUDA)/include) \
          $(if $(wildcard $(CUDA)/extras/CUPTI/include/cupti.h),-isystem $(CUDA)/extras/CUPTI/include)

# A folder gets only the -I that it may use: a wrong include does not compile.
INC_core   :=
INC_gpu     = -Icore $(SYSINC) $(CUDAINC)
INC_server  = -Icore -Igpu $(SYSINC)
INC_tests   = -Icore -Igpu -Iserver $(SYSINC)

src     = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1)/*.c))
CORE   := $(call src,core)
GPU    := $(filter-out $(OBJ)/gpu/worker_main.o,$(call src,gpu))
SERVER := $(call src,server)
PROGRAMS := $(BUILD)/layoutd $(BUILD)/layoutd-worker

.PHONY: all run test lint fuzz bench clean deps
all: $(PROGRAMS)

$(BUILD)/libla.a: $(CORE)
$(BUILD)/libgpu.a: $(GPU)
$(BUILD)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/layoutd: $(SERVER) $(BUILD)/libgpu.a $(BUILD)/libla.a
	$(CC) -o $@ $^ $(LIBS)
$(BUILD)/layoutd-worker: $(OBJ)/gpu/worker_main.o $(BUILD)/libgpu.a $(BUILD)/libla.a
	$(CC) -o $@ $^ $(LIBS)

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(INC_$(firstword $(subst /, ,$*))) -MMD -MP -c -o $@ $<

# ---- tests: each program in tests/ is one .c file, linked with everything but the daemon's main ----
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
BENCH := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/bench_*.c))
$(BUILD)/tests/%: $(OBJ)/tests/%.o $(filter-out $(OBJ)/server/main.o,$(SERVER)) $(BUILD)/libgpu.a $(BUILD)/libla.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lcmocka $(LIBS)

deps:
	@tests/deps.sh $(DEPS)
run: DEPS := build run
run: deps
	@$(MAKE) --no-print-directory all
	@exec $(BUILD)/layoutd --listen $(or $(LISTEN),127.0.0.1:8080)
test: DEPS := build run test
test: deps
	@$(MAKE) --no-print-directory test-programs
	@BUILD=$(BUILD) SAN=$(SAN) tests/all.sh
# Preloaded into programs under test: a clock that can be set, a process that cannot be killed.
$(BUILD)/tests/fake.so: tests/fake.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 -g -shared -fPIC -o $@ $<

.PHONY: test-programs bench-programs
test-programs: $(PROGRAMS) $(TESTS) $(BUILD)/tests/fake.so
bench-programs: $(PROGRAMS) $(BENCH)
bench: DEPS := build run test
bench: deps
	@$(MAKE) --no-print-directory bench-programs
	@BUILD=$(BUILD) tests/bench.sh

# Fuzz targets are clang's libFuzzer programs in tests/fuzz_*.c; what they once found stays in tests/fuzz/.
FUZZ_SECONDS ?= 20
fuzz: DEPS := build fuzz
fuzz: deps
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz.sh

lint: DEPS := build test lint
lint: deps
	@tests/lint.sh

# docs/operations.md is made from the table of operations; a test holds it to that.
.PHONY: docs
docs: $(BUILD)/tests/test_operations
	@mkdir -p docs
	$< --write > docs/operations.md

clean:
	rm -rf build

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
