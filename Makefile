# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# qprof-bpf. `make help` lists the targets. Everything that is built lands in build/ (build-debug/
# with DEBUG=1, build-san/ with SANITIZE=1, build-release/ with RELEASE=1).
#
# Both compilers write dependency files (-MMD -MP), so an edit of a header that the two halves
# share rebuilds both; tests/lint/test_rebuild.sh proves it.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.DEFAULT_GOAL := all

# ---- What a caller may set ----------------------------------------------------------------------

CC := gcc
CLANG ?= clang
# Debian keeps it out of a user's PATH.
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
PYTHON ?= python3
PREFIX ?= /usr/local
DESTDIR ?=
# Debian's zsh looks elsewhere below /usr, and Debian 12's debhelper for units in /lib.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
UNITS ?= $(PREFIX)/lib/systemd/system
# Libraries that become part of the program: names of PKGS, or all. glibc never does: it loads the
# machine's name services, which must be of its own version.
STATIC ?=
FUZZ_SECONDS ?= 60
BENCH_ARGS ?=
E2E_ARGS ?=
# Extra flags, last on every command line.
EXTRA_CFLAGS ?=
EXTRA_LDFLAGS ?=
# V=1 shows the commands.
Q := $(if $(filter 1,$(V)),,@)

# ---- Flags --------------------------------------------------------------------------------------

# The list of what is linked (sbom) is made of the linker's map.
LINK_OPT = -Wl,-Map=$@.map
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-DUNDER_SANITIZERS

ifeq ($(SANITIZE),1)
B := build-san
# -g1: lines for stacks, and half of the time to link some hundred tests.
OPT := -O1 -g1 $(SAN_FLAGS)
else ifeq ($(DEBUG),1)
B := build-debug
OPT := -O0 -g3
else ifeq ($(RELEASE),1)
# The bytes depend on the sources and the tools, not on the directory.
B := build-release
PATH_MAP := -ffile-prefix-map=$(CURDIR)=.
# With _FORTIFY_SOURCE glibc marks more results as not to be ignored.
OPT := -O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wno-unused-result $(PATH_MAP)
LINK_OPT += -Wl,-z,relro,-z,now
else
B := build
OPT := -O2 -g
endif

PKGS := libbpf libelf libdw zlib capstone libzstd json-c ncursesw sqlite3
# Loaded when it is used: only its headers are needed.
HEADER_PKGS := libcurl

INCLUDES := -Iuser -Iinclude -I$(B)
BPF_INCLUDES := -Ivmlinux -Iinclude -Ibpf
STD := -std=gnu17 -D_GNU_SOURCE
WARN := -Wall -Wextra -Werror
DEPFLAGS := -MMD -MP

STATIC_PKGS := $(if $(filter all,$(STATIC)),$(PKGS),$(filter $(STATIC),$(PKGS)))
DYNAMIC_PKGS := $(filter-out $(STATIC_PKGS),$(PKGS))
GLIBC := -pthread -lpthread -ldl -lm

ifneq ($(filter-out help clean demo check bench kernels deb tarball check-packages,$(or $(MAKECMDGOALS),all)),)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) $(HEADER_PKGS) 2>/dev/null)
ifneq ($(STATIC_PKGS),)
PKG_LIBS := -Wl,-Bstatic \
	$(filter-out $(GLIBC),$(shell $(PKG_CONFIG) --static --libs $(STATIC_PKGS) 2>/dev/null)) -Wl,-Bdynamic
endif
ifneq ($(DYNAMIC_PKGS),)
PKG_LIBS += $(shell $(PKG_CONFIG) --libs $(DYNAMIC_PKGS) 2>/dev/null)
endif
TEST_LIBS := $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)
endif

CFLAGS := $(STD) $(WARN) $(OPT) $(INCLUDES) $(PKG_CFLAGS) $(EXTRA_CFLAGS)
LDLIBS := $(PKG_LIBS) -lpthread -lm
VERSION := $(shell sed -n 's/^\#define QPROF_VERSION "\(.*\)"/\1/p' user/base/version.h)
# -g is what makes BTF, which CO-RE and the skeleton need. The kernel dictates the parameters of a
# program, used or not.
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu17 $(WARN) -Wno-unused-parameter \
	-Wframe-larger-than=48 \
	-D__TARGET_ARCH_x86 $(PATH_MAP) $(BPF_INCLUDES)

# ---- Files --------------------------------------------------------------------------------------

BIN := $(B)/qprof-bpf
LIB := $(B)/libqprof.a
# As CLI_COMMANDS has them: COMMAND(ID, name).
COMMANDS := $(subst _,-,$(shell sed -n 's/^\tCOMMAND([A-Z_]*, \([a-z_]*\)).*/\1/p' \
	user/options/options.h))
# The other name of the program, by which cargo runs it.
CARGO_BIN := $(B)/cargo-qprof
MAN := $(B)/man/qprof-bpf.1 $(COMMANDS:%=$(B)/man/qprof-bpf-%.1) $(B)/man/cargo-qprof.1
COMPLETION := $(addprefix $(B)/completion/,bash zsh fish)
# bash has both in one script; cargo's own completion asks for the one of zsh.
CARGO_COMPLETION := $(addprefix $(B)/completion/cargo-,zsh fish)
SBOM := $(B)/qprof-bpf.spdx.json
MAIN := user/cli/main.c

SRC := $(sort $(wildcard user/*/*.c user/*/*/*.c))
OBJ := $(SRC:%.c=$(B)/%.o)
LIB_OBJ := $(filter-out $(B)/$(MAIN:.c=.o),$(OBJ))
BPF_SRC := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(B)/%.o)
BPF_LEAN := $(BPF_SRC:bpf/%.bpf.c=$(B)/%.bpf.o)
SKEL := $(BPF_LEAN:.bpf.o=.skel.h)
UNIT := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
BPF_TEST := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/bpf/test_*.c)))
FUZZ := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAY := $(FUZZ:$(B)/tests/fuzz/%=$(B)/tests/fuzz/replay/%)
# The comparison of two encodings of pc-value tables, and its parts, which have unit tests.
GO_TABLES := $(B)/tests/bench/go_tables
GO_TABLES_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/bench/pctab/*.c)))
GO_TABLES_TEST := $(filter $(B)/tests/unit/test_bench_pctab_%,$(UNIT))
# Stacks held against libdw's.
STACKS := $(B)/tests/stacks/compare
STACKS_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %.bpf.c,$(sort $(wildcard tests/stacks/*.c))))
# The comparison of forms of unwind tables.
UNWIND_TABLES := $(B)/tests/bench/unwind_tables
UNWIND_TABLES_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/bench/unwind/*.c)))
BENCH := $(B)/tests/bench/measure $(B)/tests/bench/trap $(B)/tests/bench/tick $(B)/tests/bench/store \
	$(B)/tests/bench/history $(GO_TABLES) $(UNWIND_TABLES)
# What unit tests under sanitizers, replayers and fuzzers are linked with. Only a search needs to know
# which code an input reached, and that doubles the time of the rest, so it has objects of its own.
ifneq ($(filter fuzz fuzz-bin,$(MAKECMDGOALS)),)
S := $(B)/search
COVERAGE := -fsanitize=fuzzer-no-link
else
S := $(B)/fuzz
endif
FUZZ_OBJ := $(patsubst $(B)/%,$(S)/%,$(LIB_OBJ))
# Without sanitizers: one steps through each of its instructions; the others would take 17 to 54 s of
# CPU each, as they add millions of things, and are a third of the time of all.
PLAIN_UNIT := $(filter %/test_bpf_sample_intervals %/test_capture_sampled_files %/test_capture_sampled_room \
	%/test_cli_huge_traces %/test_record_recorder %/test_trace_limits \
	%/test_trace_string_table,$(UNIT))
SAN_UNIT := $(patsubst $(B)/%,$(S)/%,$(filter-out $(PLAIN_UNIT),$(UNIT)))
SAN_BIN := $(S)/qprof-bpf
SAN_MAIN := $(S)/$(MAIN:.c=.o)

.PHONY: all demo check test unit unit-bin bpf bpf-bin e2e bench bench-bin fuzz fuzz-bin lint
.PHONY: replay replay-bin stacks-bin sanitize sanitize-bin
.PHONY: bench-store bench-times fidelity llvm-fidelity toolchains kernels screenshots screens install uninstall man completion clean help no-cmocka FORCE
.PHONY: sbom deb tarball check-packages

all: $(BIN) $(CARGO_BIN)

# ---- The user half ------------------------------------------------------------------------------

# A change of flags rebuilds. The comparison happens while make reads this file, so that a build
# with nothing to do stays one (and `make -n` tells the truth).
FLAGS := $(CC) $(CFLAGS) $(LDLIBS) $(EXTRA_LDFLAGS) | $(CLANG) $(BPF_CFLAGS)
ifneq ($(FLAGS),$(file <$(B)/flags))
$(B)/flags: FORCE
endif
$(B)/flags:
	@tests/setup.sh --verify build
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS)' >$@

$(B)/user/%.o: user/%.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(OBJ_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# A cached plan is good only for the program that made it: another may mine more, or read it wrong.
PLAN_SRC := $(sort $(wildcard user/plan/*.[ch] user/plan/*/*.[ch])) include/qprof/wire.h \
	include/qprof/wire_arguments.h include/qprof/wire_crates.h include/qprof/wire_places.h \
	include/qprof/wire_tables.h
PLAN_CODEC := $(B)/user/plan/codec.o $(S)/user/plan/codec.o
$(PLAN_CODEC): $(PLAN_SRC)
$(PLAN_CODEC): private OBJ_CFLAGS = -DPLAN_REVISION=$(firstword $(shell cksum $(PLAN_SRC) | cksum))u

# Likewise a cached unwind table, and the functions beside it.
UNWIND_SRC := $(sort $(wildcard user/unwind/*.[ch] user/pctab/*.[ch])) include/qprof/wire_unwind.h \
	$(addprefix user/plan/symbols/,cfa.c cfa.h dwarf_bytes.h eh_frame.c eh_frame.h \
	elf_image.c elf_image.h elf_symbol.c elf_symbol.h functions.c functions.h)
UNWIND_CODEC := $(B)/user/unwind/codec.o $(S)/user/unwind/codec.o
$(UNWIND_CODEC): $(UNWIND_SRC)
$(UNWIND_CODEC): private OBJ_CFLAGS = \
	-DUNWIND_REVISION=$(firstword $(shell cksum $(UNWIND_SRC) | cksum))u

# And what the same file has of LLVM.
LLVM_SRC := $(sort $(wildcard user/plan/mine/llvm*.[ch])) include/qprof/wire_llvm.h \
	$(addprefix user/plan/code/,decode.c decode.h insn.h insn_length.c insn_length.h opcode.h) \
	$(addprefix user/plan/symbols/,demangle.c demangle.h got.c got.h)
LLVM_CODEC := $(B)/user/plan/mine/llvm.o $(S)/user/plan/mine/llvm.o
$(LLVM_CODEC): $(LLVM_SRC)
$(LLVM_CODEC): private OBJ_CFLAGS = \
	-DLLVM_REVISION=$(firstword $(shell cksum $(LLVM_SRC) | cksum))u

# Files that a source includes as they are; they are not in dependency files.
HTML_OBJ := $(B)/user/export/html.o $(S)/user/export/html.o
$(HTML_OBJ): $(B)/html/page/head.html
$(HTML_OBJ): private OBJ_CFLAGS = -DHTML_PAGE='"$(B)/html/page"'
TRENDS_OBJ := $(B)/user/export/trends_page.o $(S)/user/export/trends_page.o
$(TRENDS_OBJ): $(B)/html/trends/head.html
$(TRENDS_OBJ): private OBJ_CFLAGS = -DTRENDS_PAGE='"$(B)/html/trends"'

# The pages, and the hashes by which each allows its own script and style, and nothing else.
HTML_SRC := $(sort $(wildcard user/export/html/*))
$(B)/html/%/head.html: $(HTML_SRC)
	@mkdir -p $(@D)
	@echo "  HTML    $(@D)"
	$(Q)user/export/html/assemble.sh user/export/html $(@D) $*

# Generated, so the first build needs it before the dependency files list the files that include it.
$(OBJ) $(FUZZ_OBJ) $(SAN_MAIN): | $(SKEL)

$(LIB): $(LIB_OBJ)
	@echo "  AR      $@"
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BIN): $(B)/$(MAIN:.c=.o) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(OPT) $(EXTRA_CFLAGS) -o $@ $^ $(LINK_OPT) $(LDLIBS) $(EXTRA_LDFLAGS)

$(CARGO_BIN): | $(BIN)
	@ln -sf qprof-bpf $@

# ---- The kernel half ----------------------------------------------------------------------------

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  BPF     $<"
	$(Q)$(CLANG) $(BPF_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# Drops the DWARF.
$(BPF_LEAN): $(B)/%.bpf.o: $(B)/bpf/%.bpf.o
	@echo "  BPFLINK $@"
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(B)/%.skel.h: $(B)/%.bpf.o
	@echo "  SKEL    $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

# ---- Tests --------------------------------------------------------------------------------------

# -Werror=unused-function: a test that is neither a TEST_CASE() nor listed does not compile. cmocka dictates the
# parameter of a test, used or not. The objects come after the generated headers, and are compiled again
# only if a header of theirs changes; linking takes a fraction of that.
TEST_OBJ := $(UNIT:=.o) $(BPF_TEST:=.o)

# The libraries that tests copy (tests/fixtures/fixture_dir.h), assembled once.
FIXTURES := $(B)/tests/fixtures/made
FIXTURES_AT := -DFIXTURES='"$(dir $(FIXTURES))"'

$(FIXTURES): tests/fixtures/make-fixtures.sh $(wildcard tests/fixtures/*.s tests/fixtures/*.inc)
	@rm -rf $(@D) && mkdir -p $(@D)
	@echo "  AS      $(@D)"
	$(Q)CC='$(CC)' tests/fixtures/make-fixtures.sh $(@D)
	@touch $@

$(TEST_OBJ): $(B)/%.o: %.c $(B)/flags | $(LIB)
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(FIXTURES_AT) -Werror=unused-function -Wno-unused-parameter $(DEPFLAGS) -c -o $@ $<

$(UNIT) $(BPF_TEST): %: %.o $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(OPT) $(EXTRA_CFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(TEST_LIBS) $(LDLIBS) $(EXTRA_LDFLAGS)

$(UNIT) $(BPF_TEST) $(SAN_UNIT): | $(FIXTURES)
$(GO_TABLES_TEST): $(filter-out %/main.o,$(GO_TABLES_OBJ))

unit-bin: $(UNIT)

ifeq ($(TEST_LIBS),)
$(UNIT) $(BPF_TEST): no-cmocka
no-cmocka:
	@tests/setup.sh --verify check
endif

unit: unit-bin
	@JOBS=$$(nproc) tests/cmocka.sh unit $(B) $(UNIT)

# The kernel half on a program of our own, whose shapes of code are those of rustc. It changes
# stacks and jumps out of frames, which sanitizers do not take.
$(B)/tests/bpf/target: tests/bpf/target.c tests/bpf/target_names.c tests/bpf/target_dying.c \
		tests/bpf/target_jobs.c tests/bpf/target_llvm.c tests/bpf/target_chains.c tests/bpf/shapes.S $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(filter-out $(SAN_FLAGS),$(CFLAGS)) $(DEPFLAGS) -MF $@.d -o $@ \
		$(filter-out $(B)/flags,$^) -lpthread

# A kernel half of its own, on the headers of ours.
$(B)/tests/stacks/copy.bpf.o: tests/stacks/copy.bpf.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  BPF     $<"
	$(Q)$(CLANG) $(BPF_CFLAGS) -Wno-unused-function -Itests/stacks $(DEPFLAGS) -c -o $@ $<

$(B)/tests/stacks/copy.skel.h: $(B)/tests/stacks/copy.bpf.o
	@echo "  SKEL    $@"
	$(Q)$(BPFTOOL) gen skeleton $< name copy_bpf >$@

$(STACKS_OBJ): $(B)/%.o: %.c $(B)/tests/stacks/copy.skel.h $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) -Itests/stacks -I$(B)/tests/stacks $(DEPFLAGS) -c -o $@ $<

$(STACKS): $(STACKS_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(OPT) $(EXTRA_CFLAGS) -o $@ $^ $(LDLIBS) $(EXTRA_LDFLAGS)

stacks-bin: $(STACKS)

bpf-bin: $(BPF_TEST) $(B)/tests/bpf/target

bpf: bpf-bin
	@tests/cmocka.sh bpf $(B) $(BPF_TEST)

$(B)/tests/bench/%: tests/bench/%.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(DEPFLAGS) -MF $@.d -o $@ $< $(LDLIBS)

$(B)/tests/bench/store $(B)/tests/bench/history: $(B)/%: %.c $(LIB) $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(DEPFLAGS) -MF $@.d -o $@ $< $(LIB) $(LDLIBS)

$(GO_TABLES_OBJ) $(UNWIND_TABLES_OBJ): $(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(GO_TABLES): $(GO_TABLES_OBJ) $(LIB)
$(UNWIND_TABLES): $(UNWIND_TABLES_OBJ) $(LIB)
$(GO_TABLES) $(UNWIND_TABLES):
	@echo "  LINK    $@"
	$(Q)$(CC) $(OPT) $(EXTRA_CFLAGS) -o $@ $^ $(LDLIBS) $(EXTRA_LDFLAGS)

bench-bin: $(BENCH)

e2e: all stacks-bin $(FIXTURES)
	@tests/e2e/run.sh $(B) $(E2E_ARGS)

# What needs neither root nor BPF nor rustc.
test: unit lint

lint: all
	@CC='$(CC)' CLANG='$(CLANG)' tests/lint/run.sh $(B)

# Of rooms where tests spend little time, most of it is the compiler's, and a third without -O1.
COLD := capture cli doctor export history options proc record stuck view
SAN_OPT = $(if $(COVERAGE),-O1 -g,$(if $(filter $(COLD),$(word 2,$(subst /, ,$<))),-O0 -g1,-O1 -g))

$(S)/user/%.o: user/%.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  FUZZCC  $<"
	$(Q)$(CLANG) $(STD) $(WARN) $(SAN_OPT) $(INCLUDES) $(PKG_CFLAGS) $(SAN_FLAGS) $(COVERAGE) \
		$(OBJ_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(S)/libqprof.a: $(FUZZ_OBJ)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

FUZZ_CC = $(CLANG) $(STD) $(WARN) -O1 -g $(INCLUDES) $(PKG_CFLAGS) $(SAN_FLAGS)

$(S)/tests/fuzz/%.o: tests/fuzz/%.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  FUZZCC  $<"
	$(Q)$(FUZZ_CC) $(COVERAGE) $(DEPFLAGS) -c -o $@ $<

# One fuzzer, two programs: libFuzzer's searches, ours runs the same inputs every time.
$(FUZZ): $(B)/%: $(S)/%.o $(S)/libqprof.a
	@mkdir -p $(@D)
	@echo "  FUZZ    $@"
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer -o $@ $(filter %.o %.a,$^) $(LDLIBS)

$(REPLAY): $(B)/tests/fuzz/replay/%: $(S)/tests/fuzz/%.o $(S)/tests/fuzz/replay.o \
		$(S)/libqprof.a
	@mkdir -p $(@D)
	@echo "  FUZZ    $@"
	$(Q)$(FUZZ_CC) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

fuzz-bin: $(FUZZ)
replay-bin: $(REPLAY)

# Searches.
fuzz: fuzz-bin
	@tests/fuzz/run.sh $(B) $(FUZZ_SECONDS) $(FUZZ)

# The kept corpus, and a fixed number of inputs made of it: the same every time.
replay: replay-bin
	@tests/fuzz/replay.sh $(B) $(REPLAY)

# Tests themselves are not optimised, as most of the time is the compiler's. `make unit` shows gcc's
# warnings; a test that is not listed does not compile here, either.
$(SAN_UNIT:=.o): $(S)/%.o: %.c $(B)/flags | $(S)/libqprof.a
	@mkdir -p $(@D)
	@echo "  SANCC   $<"
	$(Q)$(FUZZ_CC) $(FIXTURES_AT) -O0 -g1 -Wno-everything -Wunused-function $(DEPFLAGS) -c -o $@ $<

# Some hundred programs: it takes a third of the time.
LLD := $(if $(shell command -v ld.lld),-fuse-ld=lld)

$(SAN_UNIT) $(SAN_BIN): $(S)/libqprof.a
	@echo "  SANLINK $@"
	$(Q)$(FUZZ_CC) $(LLD) -o $@ $(filter %.o,$^) $(S)/libqprof.a $(TEST_LIBS) $(LDLIBS)

$(SAN_UNIT): %: %.o
$(SAN_BIN): $(SAN_MAIN)
$(GO_TABLES_TEST:$(B)/%=$(S)/%): $(filter-out %/main.o,$(GO_TABLES_OBJ))

sanitize-bin: $(SAN_BIN) $(SAN_UNIT) $(PLAIN_UNIT)

# The unit tests, and the commands that need no privileges, under sanitizers. FAST=1: one of five of
# the latter.
sanitize: sanitize-bin
	@tests/sanitize.sh $(B) $(SAN_BIN) $(SAN_UNIT) $(PLAIN_UNIT)

# ---- For people: these install what is missing first --------------------------------------------

# Built files belong to the user who ran sudo; only steps that need the kernel run as root.
AS_USER := tests/as-user.sh
SUBMAKE = $(AS_USER) $(MAKE) --no-print-directory -j$(shell nproc) \
	DEBUG=$(DEBUG) SANITIZE=$(SANITIZE)

demo:
	@tests/setup.sh build
	@+$(SUBMAKE) all
	@tests/demo/run.sh $(B)

check:
	@tests/setup.sh check
	@+$(SUBMAKE) all bpf-bin stacks-bin bench-bin
	@+MAKE='$(SUBMAKE)' tests/check.sh $(B)

bench:
	@tests/setup.sh bench
	@+$(SUBMAKE) all bench-bin
	@$(PYTHON) -B tests/bench/bench.py --build $(B) $(BENCH_ARGS)

# The parts of it that need neither root nor rustc.
EVENTS ?= 100000000
bench-store: all $(B)/tests/bench/store $(GO_TABLES) $(UNWIND_TABLES)
	@$(PYTHON) -B tests/bench/bench.py --build $(B) --part store --part export --part pctab \
		--part unwind --events $(EVENTS)

# Self times beside those of rustc's own profile.
bench-times:
	@tests/setup.sh check
	@+$(SUBMAKE) all bench-bin
	@$(PYTHON) -B tests/bench/times.py --build $(B) $(BENCH_ARGS)

# docs/fidelity.md: all crates, ways to compile and kinds beside rustc's own profiles. A difference
# without a known reason is an error; the page shows it all the same. FIDELITY_ARGS=--help
FIDELITY_ARGS ?=
fidelity:
	@tests/setup.sh check
	@+$(SUBMAKE) all
	@$(PYTHON) -B tests/e2e/fidelity.py --build $(B) $(FIDELITY_ARGS) >$(B)/fidelity.md; \
		status=$$?; \
		if [ -s $(B)/fidelity.md ]; then mv $(B)/fidelity.md docs/fidelity.md; fi; \
		exit $$status

# The table in docs/llvm.md: functions by samples beside LLVM's own trace. LLVM_FIDELITY_ARGS=--help
LLVM_FIDELITY_ARGS ?=
llvm-fidelity:
	@tests/setup.sh check
	@+$(SUBMAKE) all
	@$(PYTHON) -B tests/e2e/llvm_fidelity.py --build $(B) $(LLVM_FIDELITY_ARGS) docs/llvm.md

# docs/toolchains.md: all toolchains that are found, and how far each is recorded. With
# TOOLCHAINS_ARGS (--help) the page is printed, not kept.
TOOLCHAINS_ARGS ?=
toolchains:
	@tests/setup.sh check
	@+$(SUBMAKE) all
	@$(PYTHON) -B tests/e2e/toolchains.py --build $(B) $(TOOLCHAINS_ARGS) >$(B)/toolchains.md
	@if [ -z '$(TOOLCHAINS_ARGS)' ]; then mv $(B)/toolchains.md docs/toolchains.md; else cat $(B)/toolchains.md; fi

# Other kernels, in virtual machines, and docs/kernels.md: KERNELS="6.18 7" picks some, QUICK=1 tries
# only what finds the worst. KERNELS_ARGS=--help
KERNELS ?=
QUICK ?=
KERNELS_ARGS ?=
kernels:
	@tests/setup.sh kernels
	@+$(SUBMAKE) all bpf-bin stacks-bin
	@$(AS_USER) $(PYTHON) -B tests/kernels/run.py --build $(B) \
		--keep tests/kernels/tried --page docs/kernels.md \
		$(if $(filter 1,$(QUICK)),--quick) $(KERNELS_ARGS) $(KERNELS)

# The pictures in the documents. SCREENSHOTS_ARGS=--help
SCREENSHOTS_ARGS ?=
screenshots:
	@tests/setup.sh check
	@+$(SUBMAKE) all
	@$(PYTHON) -B tests/e2e/screenshots.py --build $(B) $(SCREENSHOTS_ARGS)

# The first screens of tests/e2e/test_users.py, as README.md and docs show them. SCREENS_ARGS=--help
SCREENS_ARGS ?=
screens:
	@tests/setup.sh check
	@+$(SUBMAKE) all
	@$(PYTHON) -B tests/e2e/screens.py --build $(B) $(SCREENS_ARGS)

# ---- Install ------------------------------------------------------------------------------------

# One option table feeds the parser, the help, these pages and the shells' completion.
$(B)/man/qprof-bpf.1: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) help --man >$@

$(B)/man/qprof-bpf-%.1: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) help --man $(subst -, ,$*) >$@

$(B)/man/cargo-qprof.1: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) help --man cargo-qprof >$@

$(COMPLETION): $(B)/completion/%: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) help --completion $* >$@

$(CARGO_COMPLETION): $(B)/completion/cargo-%: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) help --completion $* cargo-qprof >$@

man: $(MAN)
completion: $(COMPLETION) $(CARGO_COMPLETION)

SHARE = $(DESTDIR)$(PREFIX)/share
INSTALLED_COMPLETION = $(SHARE)/bash-completion/completions/qprof-bpf \
	$(DESTDIR)$(ZSH_COMPLETIONS)/_qprof-bpf $(SHARE)/fish/vendor_completions.d/qprof-bpf.fish \
	$(SHARE)/bash-completion/completions/cargo-qprof $(DESTDIR)$(ZSH_COMPLETIONS)/_cargo-qprof \
	$(SHARE)/fish/vendor_conf.d/cargo-qprof.fish
INSTALLED_SERVICE = $(DESTDIR)$(UNITS)/qprof-bpf.service

install: $(BIN) $(MAN) $(COMPLETION) $(CARGO_COMPLETION)
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/qprof-bpf
	ln -sf qprof-bpf $(DESTDIR)$(PREFIX)/bin/cargo-qprof
	install -d $(SHARE)/man/man1
	install -m 644 $(MAN) $(SHARE)/man/man1
	install -D -m 644 $(B)/completion/bash $(word 1,$(INSTALLED_COMPLETION))
	install -D -m 644 $(B)/completion/zsh $(word 2,$(INSTALLED_COMPLETION))
	install -D -m 644 $(B)/completion/fish $(word 3,$(INSTALLED_COMPLETION))
	ln -sf qprof-bpf $(word 4,$(INSTALLED_COMPLETION))
	install -D -m 644 $(B)/completion/cargo-zsh $(word 5,$(INSTALLED_COMPLETION))
	install -D -m 644 $(B)/completion/cargo-fish $(word 6,$(INSTALLED_COMPLETION))
	install -d $(dir $(INSTALLED_SERVICE))
	sed 's|@PREFIX@|$(PREFIX)|' user/record/qprof-bpf.service.in >$(INSTALLED_SERVICE)
	chmod 644 $(INSTALLED_SERVICE)

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,qprof-bpf cargo-qprof) $(INSTALLED_COMPLETION) $(INSTALLED_SERVICE)
	rm -f $(addprefix $(SHARE)/man/man1/,$(notdir $(MAN)))

# ---- Packages -----------------------------------------------------------------------------------

# What the linker put into the program, and what it loads.
$(SBOM): $(BIN) user/package/sbom.py
	@echo "  SBOM    $@"
	$(Q)SOURCE_DATE_EPOCH=$$(user/package/date.sh) $(PYTHON) -B user/package/sbom.py $(BIN) $(VERSION) >$@

sbom: $(SBOM)

# The results are build/packages/*. The Debian package is made of a copy of the sources, the tarball of
# build-release, linked anew.
deb tarball:
	@tests/setup.sh --verify packages
	@+user/package/$@.sh build/packages $(VERSION)

# Installs, runs and removes both in small systems of two Debian releases.
check-packages:
	@tests/setup.sh packages
	@+$(SUBMAKE) deb tarball
	@tests/packages/run.sh build/packages

clean:
	rm -rf build build-debug build-san build-release

help:
	@echo 'sudo make demo    set up, build, profile a small crate live'
	@echo 'sudo make check   set up, build, run every test'
	@echo
	@echo 'make              build $(BIN)'
	@echo 'make test         unit tests and lint'
	@echo 'make unit         unit tests without sanitizers: no root, no BPF, no rustc'
	@echo 'sudo make bpf     the kernel half, on a test program of our own'
	@echo 'make lint         headers alone, no return probes, format, function length, rebuilds'
	@echo 'make fuzz         search with the fuzzers, for FUZZ_SECONDS each (default 60)'
	@echo 'make sanitize     unit tests and the commands without privileges, under ASan and UBSan; FAST=1'
	@echo 'make replay       run what the fuzzers kept, and the same inputs made of it every time'
	@echo 'sudo make e2e     tests against the real rustc; E2E_ARGS=WORD picks some'
	@echo 'sudo make fidelity  docs/fidelity.md anew: some 15 minutes; llvm-fidelity: the table of docs/llvm.md'
	@echo 'sudo make toolchains  docs/toolchains.md anew: every compiler that is found'
	@echo 'sudo make kernels  try other kernels in QEMU, docs/kernels.md anew; KERNELS="6.18 7" QUICK=1'
	@echo 'sudo make screenshots  docs/images anew'
	@echo 'sudo make screens      the screens that README.md and docs show'
	@echo 'sudo make bench   set up, measure, compare with what is aimed at; BENCH_ARGS=--help'
	@echo 'sudo make bench-times  our self times beside those of -Zself-profile; BENCH_ARGS=--help'
	@echo 'make bench-store  those parts of it that need no root and no rustc; EVENTS=N'
	@echo 'make install      the program, its manual pages, completion and service; DESTDIR=, PREFIX=$(PREFIX)'
	@echo 'make uninstall    remove these again'
	@echo 'make man          the manual pages, in $(B)/man'
	@echo 'make deb          a Debian package, in build/packages'
	@echo 'make tarball      the program for any x86-64 distribution, in build/packages'
	@echo 'sudo make check-packages  install, run and remove both in small Debian systems'
	@echo 'make clean'
	@echo
	@echo 'DEBUG=1           no optimisation, in build-debug/'
	@echo 'SANITIZE=1        address and undefined behaviour sanitizers, in build-san/'
	@echo 'RELEASE=1         the same bytes in any directory, in build-release/'
	@echo 'STATIC=all        link all libraries but glibc into the program; or names: STATIC="capstone"'
	@echo 'V=1               show the commands'

PROGRAMS := $(BENCH) $(B)/tests/bpf/target
-include $(OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(BPF_OBJ:.o=.d) $(B)/tests/stacks/copy.bpf.d $(FUZZ_OBJ:.o=.d) $(FUZZ:$(B)/%=$(S)/%.d) $(SAN_UNIT:=.d) $(SAN_MAIN:.o=.d) $(PROGRAMS:=.d)
-include $(S)/tests/fuzz/replay.d $(GO_TABLES_OBJ:.o=.d) $(UNWIND_TABLES_OBJ:.o=.d) $(STACKS_OBJ:.o=.d)
