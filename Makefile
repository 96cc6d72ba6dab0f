# alineo_ledger: the core in shared/, compiled into alineo.so for SQLite and
# into alineo_ledger for PostgreSQL.
#
#   make                  builds alineo.so
#   make install-sqlite   puts it where `.load alineo` finds it
#   make pg               builds the PostgreSQL extension (PGXS, PG_CONFIG)
#   make install          installs it; make installcheck tests what is installed
#   make demo             shows the ledger at work on recorded sessions
#   make check            builds everything and passes every test
#   make check-asan       the C suites under AddressSanitizer and UBSan
#   make check-valgrind   the C suites under valgrind
#   make check-tsan       the tests of threads under ThreadSanitizer
#   make coverage         which lines the tests run; fails where too few
#   make bench            the ledger's speed, as ratios against plain SQL
#   make bench-scale      what it costs as it grows: docs/performance.md
#
# Of these, check has a short form:
#
#   make check-crash      kills writers and servers, 100 rounds of each kind
#   make check-faults     every allocation and I/O call made to fail, and more
#   make check-corruption every cell of a ledger damaged in every way
#   make fuzz             the core and the SQL surface under libFuzzer
#
# All of them install what they need from Debian (as root).

# PGXS has variables and rules of its own, so what it builds is a part apart of
# this file, which the targets pg, install, uninstall and installcheck enter.
ifdef PGXS_PART

PG_CONFIG ?= pg_config
MODULE_big := alineo_ledger
OBJS       := $(patsubst %.c,%.o,$(sort $(wildcard shared/*.c pg_ext/*.c)))
EXTENSION  := alineo_ledger
DATA       := $(sort $(wildcard sql/*.sql))

# PGXS itself hides symbols only from 16 on. The server's headers come as the
# system's, so that the warnings are of this code.
PG_CPPFLAGS := -Ishared -isystem $(shell $(PG_CONFIG) --includedir-server)
PG_CFLAGS   := -std=c11 -fvisibility=hidden -Wall -Wextra -Werror -Wno-declaration-after-statement

REGRESS        := schema append batch text replay sandboxes adopt security tables cancel plans guard guard_tables
REGRESS_OPTS   := --inputdir=tests/pg --outputdir=build/regress --encoding=UTF8
ISOLATION      := first_write writers appends deletions drops migration serializable guard_switch
ISOLATION_OPTS := --inputdir=tests/pg --outputdir=build/isolation

override with_llvm := no
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard shared/*.h pg_ext/*.h)
installcheck: | build/regress build/isolation
build/regress build/isolation:
	mkdir -p $@

else # the rest of this file

.DEFAULT_GOAL := alineo.so

BUILD      ?= build
CFLAGS     ?= -O2 -g
PREFIX     ?= /usr
# On the loader's path, so that a bare name is found from any folder.
SQLITE_DIR ?= $(PREFIX)/lib/$(shell $(CC) -print-multiarch 2>/dev/null)
INSTALL    ?= install
PYTHON     ?= /usr/bin/python3

# Not where Node.js came from elsewhere: Debian's packages would clash with it.
NODE_PACKAGES     := $(if $(shell which npm 2>/dev/null),,nodejs npm)
BUILD_PACKAGES    := gcc libc6-dev libsqlite3-dev
DEMO_PACKAGES     := $(BUILD_PACKAGES) sqlite3 python3
CHECK_PACKAGES    := $(DEMO_PACKAGES) libcmocka-dev clang g++ python3-psycopg2 python3-psycopg $(NODE_PACKAGES)
FUZZ_PACKAGES     := $(BUILD_PACKAGES) g++ clang libclang-rt-14-dev nlohmann-json3-dev libgmp-dev
VALGRIND_PACKAGES := $(BUILD_PACKAGES) libcmocka-dev valgrind

# --- the core and alineo.so ---------------------------------------------------

CORE_SRC   := $(sort $(wildcard shared/*.c))
SQLITE_SRC := $(sort $(wildcard sqlite_ext/*.c))
CORE_OBJ   := $(CORE_SRC:%.c=$(BUILD)/%.o)
SQLITE_OBJ := $(SQLITE_SRC:%.c=$(BUILD)/%.o)

WARNINGS     := -Wall -Wextra -Wpedantic -Werror
# Hosts load libraries into one name space: all but the entry point is hidden.
CORE_FLAGS   := -std=c11 $(WARNINGS) -fPIC -fvisibility=hidden -MMD -MP -Ishared
SQLITE_FLAGS := $(CORE_FLAGS) -D_POSIX_C_SOURCE=200809L -Isqlite_ext
# A failed load leaves destructors behind in SQLite; nodelete keeps them mapped.
SQLITE_LINK  := -shared -Wl,-z,nodelete

$(BUILD)/shared/%.o: shared/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_FLAGS) $(CFLAGS) $(SANITIZE) -c $< -o $@

$(BUILD)/sqlite_ext/%.o: sqlite_ext/%.c
	@mkdir -p $(@D)
	$(CC) $(SQLITE_FLAGS) $(CFLAGS) $(SANITIZE) -c $< -o $@

$(BUILD)/alineo.so: $(CORE_OBJ) $(SQLITE_OBJ)
	$(CC) $(SQLITE_LINK) $(LDFLAGS) $(SANITIZE) $^ -lm -o $@

# A new file, never the old one written over: it may be in use.
alineo.so: $(BUILD)/alineo.so
	$(INSTALL) -m 755 $< $@

.PHONY: install-sqlite uninstall-sqlite
install-sqlite: alineo.so
	$(INSTALL) -d $(DESTDIR)$(SQLITE_DIR)
	$(INSTALL) -m 755 alineo.so $(DESTDIR)$(SQLITE_DIR)/alineo.so

uninstall-sqlite:
	rm -f $(DESTDIR)$(SQLITE_DIR)/alineo.so

# --- the PostgreSQL extension ---------------------------------------------------

.PHONY: pg install uninstall installcheck
pg: PGXS_TARGET := all
install uninstall installcheck: PGXS_TARGET = $@
pg install uninstall installcheck:
	$(MAKE) PGXS_PART=yes $(PGXS_TARGET)

# --- tests --------------------------------------------------------------------

CORE_TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/core/test_*.c)))
SQLITE_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/sqlite/test_*.c)))
TEST_FLAGS   := -std=c11 $(WARNINGS) -D_POSIX_C_SOURCE=200809L -Ishared -MMD -MP

$(BUILD)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) $(CFLAGS) $(SANITIZE) -c $< -o $@

$(BUILD)/tests/core/test_%: $(BUILD)/tests/core/test_%.o $(BUILD)/tests/core/support.o $(CORE_OBJ)
	$(CC) $(SANITIZE) $^ -lcmocka -lm -o $@

$(BUILD)/tests/sqlite/test_%: $(BUILD)/tests/sqlite/test_%.o $(BUILD)/tests/sqlite/support.o
	$(CC) $(SANITIZE) $^ -lsqlite3 -lcmocka -lpthread -o $@

# Injected faults: the calls, and what has to hold when one fails.
FAULT_OBJ := $(patsubst %,$(BUILD)/tests/sqlite/%.o,calls trial)
$(BUILD)/tests/sqlite/test_memory $(BUILD)/tests/sqlite/test_io: $(FAULT_OBJ)
$(BUILD)/tests/sqlite/test_io: $(BUILD)/tests/sqlite/fault_vfs.o
$(patsubst %,$(BUILD)/tests/sqlite/test_%,surface hostile hostile_pages): $(BUILD)/tests/sqlite/calls.o

# The extension as a part of a program.
COMPILED_IN_OBJ  := $(SQLITE_SRC:%.c=$(BUILD)/compiled_in/%.o)
COMPILED_IN_TEST := $(BUILD)/tests/compiled_in/test_compiled_in
$(BUILD)/compiled_in/sqlite_ext/%.o: sqlite_ext/%.c
	@mkdir -p $(@D)
	$(CC) $(SQLITE_FLAGS) -DSQLITE_CORE $(CFLAGS) $(SANITIZE) -c $< -o $@

$(COMPILED_IN_TEST): $(COMPILED_IN_TEST).o $(CORE_OBJ) $(COMPILED_IN_OBJ)
	$(CC) $(SANITIZE) $^ -lsqlite3 -lcmocka -lm -o $@

# The one test that looks inside: it explains the statements themselves.
$(BUILD)/tests/sqlite/test_plans: $(BUILD)/sqlite_ext/statements.o
$(BUILD)/tests/sqlite/test_plans.o: TEST_FLAGS += -Isqlite_ext

.SECONDARY:

.PHONY: check check-packages check-c check-core-alone check-conformance check-docs demo
check: check-packages
	@$(MAKE) --no-print-directory check-core-alone
	@$(MAKE) --no-print-directory check-c
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(CHECK_FUZZ_SECONDS)
	@$(MAKE) --no-print-directory check-crash-sqlite CRASH_ROUNDS=5
	@$(MAKE) --no-print-directory check-pg

check-packages:
	@scripts/install-packages $(CHECK_PACKAGES)

# The core knows no engine: it compiles alone, under both compilers.
check-core-alone:
	@! grep -nE '#include *[<"](sqlite3|postgres|fmgr)' shared/*
	@for cc in gcc clang; do for file in $(CORE_SRC); do \
	  $$cc -std=c11 $(WARNINGS) -fsyntax-only $$file || exit 1; done; done
	@echo "the core compiles alone under gcc and clang"

C_TESTS := $(CORE_TESTS) $(SQLITE_TESTS) $(COMPILED_IN_TEST)
check-c: $(BUILD)/alineo.so $(C_TESTS)
	@ALINEO_SO=$(abspath $(BUILD)/alineo.so) scripts/run-tests $(C_TESTS)

# Each fault once, where check-c tries one of so many.
FAULT_TESTS := $(patsubst %,$(BUILD)/tests/sqlite/test_%,memory io hostile_pages)
.PHONY: check-faults check-faults-running
check-faults: check-packages
	@$(MAKE) --no-print-directory check-faults-running

check-faults-running: $(BUILD)/alineo.so $(FAULT_TESTS)
	@ALINEO_FAULTS=all ALINEO_SO=$(abspath $(BUILD)/alineo.so) scripts/run-tests $(FAULT_TESTS)

check-docs: alineo.so
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/docs/check_documents.py
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/docs/run_examples.py --node $(BUILD)/node

# On both engines; run with a server that check-pg has started.
CONFORMANCE_PG = $(if $(PGHOST),--postgres "dbname=$(CONFORMANCE_DB)")
CONFORMANCE_DB := alineo_conformance
check-conformance: alineo.so
	@$(PYTHON) tests/conformance/run.py --sqlite alineo.so $(CONFORMANCE_PG)

PG_SHELL_TESTS := $(filter-out %/lib.sh,$(sort $(wildcard tests/pg/shell/*.sh)))
PG_TRUST_TESTS := $(filter-out %/lib.py,$(sort $(wildcard tests/pg/trust/*.py)))
.PHONY: check-pg check-pg-running
check-pg:
	@scripts/postgres packages
	@$(MAKE) --no-print-directory -s pg PG_CONFIG=$$(scripts/postgres config)
	@ALINEO_PG_SETTINGS="-c fsync=off" \
	  scripts/postgres run $(MAKE) --no-print-directory -s check-pg-running

check-pg-running:
	@$(MAKE) --no-print-directory installcheck PG_CONFIG=$$(scripts/postgres config)
	@scripts/run-tests $(PG_SHELL_TESTS) $(PG_TRUST_TESTS)
	@psql -Xqc "CREATE DATABASE $(CONFORMANCE_DB) TEMPLATE template0 ENCODING 'UTF8'"
	@$(MAKE) --no-print-directory check-conformance
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/conformance/compare_engines.py
	@$(MAKE) --no-print-directory check-corruption-running
	@$(MAKE) --no-print-directory check-docs
	@$(MAKE) --no-print-directory check-crash-postgres CRASH_ROUNDS=2 # last: it stops the server

# Damaged ledgers: a part of it in check-pg-running, all of it here.
.PHONY: check-corruption check-corruption-running
check-corruption:
	@scripts/postgres packages
	@$(MAKE) --no-print-directory -s alineo.so pg PG_CONFIG=$$(scripts/postgres config)
	@ALINEO_PG_SETTINGS="-c fsync=off $(CORRUPTION_LOG)" scripts/postgres run \
	  $(MAKE) --no-print-directory -s check-corruption-running CORRUPTION=--long

# Errors are what it is about: the server need not write them down.
CORRUPTION_LOG := -c log_min_messages=fatal -c log_min_error_statement=fatal
CORRUPTION     := --seed 1
CORRUPTION_PG   = $(if $(PGHOST),--postgres "dbname=$(CORRUPTION_DB)")
CORRUPTION_DB  := alineo_corruption
check-corruption-running: alineo.so
	@psql -Xqc "CREATE DATABASE $(CORRUPTION_DB) TEMPLATE template0 ENCODING 'UTF8'"
	@PGOPTIONS="$(CORRUPTION_LOG)" $(PYTHON) tests/corruption/corrupt.py --sqlite alineo.so $(CORRUPTION_PG) \
	  $(CORRUPTION)
	@$(PYTHON) tests/corruption/bits.py --postgres "dbname=$(CORRUPTION_DB)" $(CORRUPTION)
	@PGOPTIONS="$(CORRUPTION_LOG)" $(PYTHON) tests/corruption/deep.py --sqlite alineo.so $(CORRUPTION_PG) \
	  $(filter --long,$(CORRUPTION))

# Writers are killed at random moments, and what was acknowledged looked for;
# SEED=1 gives the seed of a run. On PostgreSQL only with a server of its own.
.PHONY: check-crash check-crash-sqlite check-crash-postgres
CRASH_ROUNDS  ?= 100
CRASH_TESTS   := $(BUILD)/tests/sqlite/test_crash_points $(BUILD)/tests/sqlite/test_power_loss
CRASH_OPTIONS := --rounds $(CRASH_ROUNDS) $(if $(SEED),--seed $(SEED))
check-crash: check-packages
	@$(MAKE) --no-print-directory -s $(BUILD)/alineo.so $(CRASH_TESTS)
	@for test in $(CRASH_TESTS); do \
	  ALINEO_SO=$(abspath $(BUILD)/alineo.so) ALINEO_EVERY_POINT=1 $$test || exit 1; done
	@$(MAKE) --no-print-directory check-crash-sqlite
	@scripts/postgres packages
	@$(MAKE) --no-print-directory -s pg PG_CONFIG=$$(scripts/postgres config)
	@ALINEO_PG_SETTINGS="-c fsync=off" \
	  scripts/postgres run $(MAKE) --no-print-directory -s check-crash-postgres

check-crash-sqlite: alineo.so
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/crash/crash_sqlite.py $(CRASH_OPTIONS)

check-crash-postgres:
	@$(PYTHON) tests/crash/crash_postgres.py $(CRASH_OPTIONS)

# The C suites, and the conformance cases in a Python that has the sanitizers
# preloaded, or runs under valgrind; leaks are looked for in the C suites alone.
.PHONY: check-asan check-valgrind check-asan-running
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
check-asan: check-packages
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  SANITIZE="$(SANITIZERS)" check-asan-running

check-asan-running: check-c
	@ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  $(PYTHON) tests/conformance/run.py --sqlite $(BUILD)/alineo.so
	@ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  $(PYTHON) tests/corruption/corrupt.py --sqlite $(BUILD)/alineo.so $(CORRUPTION)

check-valgrind: check-packages
	@scripts/install-packages $(VALGRIND_PACKAGES)
	@TEST_WRAPPER="valgrind -q --error-exitcode=9 --leak-check=full --trace-children=no" \
	  ALINEO_VALGRIND=1 $(MAKE) --no-print-directory check-c
	@PYTHONMALLOC=malloc valgrind -q --error-exitcode=9 --leak-check=no \
	  $(PYTHON) tests/conformance/run.py --sqlite $(BUILD)/alineo.so

# libFuzzer with both sanitizers; what guides it is the coverage of the code under
# test, not of the harnesses. FUZZ_SECONDS is for each harness.
FUZZ          := $(BUILD)/fuzz
FUZZ_SECONDS  ?= 30
CHECK_FUZZ_SECONDS ?= 5
FUZZ_FLAGS    := -O1 -g -fno-omit-frame-pointer $(SANITIZERS)
FUZZ_GUIDED   := $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link
FUZZ_CORE     := $(CORE_SRC:%.c=$(FUZZ)/%.o)
FUZZ_SQLITE   := $(SQLITE_SRC:%.c=$(FUZZ)/%.o)
FUZZ_PARTS    := harness units oracle entry_model events store model attempts
FUZZ_SHARED   := $(FUZZ_PARTS:%=$(FUZZ)/tests/fuzz/%.o)
FUZZ_TESTS    := $(patsubst tests/fuzz/%.cpp,$(FUZZ)/%,$(sort $(wildcard tests/fuzz/fuzz_*.cpp)))

$(FUZZ)/shared/%.o: shared/%.c
	@mkdir -p $(@D)
	clang $(CORE_FLAGS) $(FUZZ_GUIDED) -c $< -o $@

$(FUZZ)/sqlite_ext/%.o: sqlite_ext/%.c
	@mkdir -p $(@D)
	clang $(SQLITE_FLAGS) -DSQLITE_CORE $(FUZZ_GUIDED) -c $< -o $@

$(FUZZ)/tests/fuzz/%.o: tests/fuzz/%.cpp
	@mkdir -p $(@D)
	clang++ -std=c++17 $(WARNINGS) -Ishared -MMD -MP $(FUZZ_FLAGS) -c $< -o $@

$(FUZZ)/fuzz_%: $(FUZZ)/tests/fuzz/fuzz_%.o $(FUZZ_SHARED) $(FUZZ_CORE)
	clang++ $(SANITIZERS) -fsanitize=fuzzer $^ -lsqlite3 -lgmpxx -lgmp -lm -o $@

$(FUZZ)/fuzz_sqlite: $(FUZZ)/tests/fuzz/database.o $(FUZZ_SQLITE)

.PHONY: fuzz fuzz-run
fuzz:
	@scripts/install-packages $(FUZZ_PACKAGES)
	@$(MAKE) --no-print-directory -s $(FUZZ_TESTS)
	@$(MAKE) --no-print-directory -s -k fuzz-run

fuzz-run: $(FUZZ_TESTS:$(FUZZ)/%=run-%)
run-fuzz_%: $(FUZZ)/fuzz_%
	@FUZZ_BUILD=$(FUZZ) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz $<

# SQLite's own library is not instrumented, but its mutexes are seen.
.PHONY: check-tsan check-tsan-running
check-tsan: check-packages
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CFLAGS="-O1 -g" \
	  SANITIZE=-fsanitize=thread check-tsan-running

TSAN_TESTS := $(BUILD)/tests/sqlite/test_concurrency $(BUILD)/tests/sqlite/test_contention
check-tsan-running: $(BUILD)/alineo.so $(TSAN_TESTS)
	@ALINEO_SO=$(abspath $(BUILD)/alineo.so) scripts/run-tests $(TSAN_TESTS)

.PHONY: coverage
coverage: check-packages
	@scripts/install-packages gcovr
	@scripts/postgres packages
	@PYTHON=$(PYTHON) scripts/coverage

demo:
	@scripts/install-packages $(DEMO_PACKAGES)
	@$(MAKE) --no-print-directory -s alineo.so
	@demo/demo.sh $(abspath alineo.so)

# --- benchmarks ---------------------------------------------------------------

# One program for each; what they share is in an archive.
BENCH_PROGRAMS := $(addprefix $(BUILD)/bench/,bench_sqlite bench_postgres scale memory indexes concurrency migration)
BENCH_SHARED   := $(filter-out $(BENCH_PROGRAMS:%=%.o),$(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard bench/*.c))))
BENCH_PACKAGES := $(BUILD_PACKAGES) libpq-dev
BENCH_FLAGS    := -std=c11 $(WARNINGS) -D_POSIX_C_SOURCE=200809L -MMD -MP
$(BUILD)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(BENCH_FLAGS) -isystem $$(pg_config --includedir) $(CFLAGS) -c $< -o $@

$(BUILD)/bench/shared.a: $(BENCH_SHARED)
	rm -f $@
	$(AR) rcs $@ $^

$(BENCH_PROGRAMS): %: %.o $(BUILD)/bench/shared.a
	$(CC) $^ -lsqlite3 -lpq -lpthread -o $@

# The server's checkpoints would come at any time of a run.
BENCH_PG_SETTINGS := -c shared_buffers=512MB -c max_wal_size=8GB -c checkpoint_timeout=1h
.PHONY: bench bench-packages bench-build bench-sqlite bench-postgres bench-scale bench-document clean
bench: bench-sqlite bench-postgres

bench-packages:
	@scripts/install-packages $(BENCH_PACKAGES)
	@scripts/postgres packages

bench-build: bench-packages
	@$(MAKE) --no-print-directory -s alineo.so $(BENCH_PROGRAMS)
	@$(MAKE) --no-print-directory -s pg PG_CONFIG=$$(scripts/postgres config)

bench-sqlite: bench-build
	@$(BUILD)/bench/bench_sqlite $(abspath alineo.so)

bench-postgres: bench-build
	@ALINEO_PG_SETTINGS="$(BENCH_PG_SETTINGS)" scripts/postgres run $(BUILD)/bench/bench_postgres

# All of docs/performance.md, or one part of it. Files go below TMPDIR; of ten
# million events they take 5 GB.
SCALE_ENGINES ?= sqlite postgres
SCALE_PARTS   := bench-size bench-memory bench-concurrency bench-indexes bench-migration
# The server with which a table that was just emptied is filled without a log.
SIZE_SETTINGS := $(BENCH_PG_SETTINGS) -c wal_level=minimal -c max_wal_senders=0
WITH_SERVER   := scripts/in-folder scripts/postgres run
.PHONY: $(SCALE_PARTS)
bench-scale:
	@for part in $(SCALE_PARTS); do $(MAKE) --no-print-directory $$part || exit 1; done

$(SCALE_PARTS): SHELL := /bin/bash
bench-size: bench-build
	@scripts/install-packages gnuplot-nox
	@set -o pipefail; ALINEO_PG_SETTINGS="$(SIZE_SETTINGS)" $(WITH_SERVER) \
	  $(BUILD)/bench/scale $(abspath alineo.so) $(BUILD)/bench/size.new $(SCALE_ENGINES) \
	  | tee $(BUILD)/bench/size.md
	@mv $(BUILD)/bench/size.new $(BUILD)/bench/size.dat
	@gnuplot -e "data='$(BUILD)/bench/size.dat'; to='$(BUILD)/bench/size.svg'" bench/scale.gp \
	  || echo "not drawn: that takes both engines"

bench-memory bench-indexes bench-migration: bench-%: bench-build
	@set -o pipefail; ALINEO_PG_SETTINGS="$(BENCH_PG_SETTINGS)" $(WITH_SERVER) \
	  $(BUILD)/bench/$* $(abspath alineo.so) $(SCALE_ENGINES) | tee $(BUILD)/bench/$*.md

bench-concurrency: bench-build
	@set -o pipefail; ALINEO_PG_SETTINGS="$(BENCH_PG_SETTINGS)" $(WITH_SERVER) \
	  $(BUILD)/bench/concurrency | tee $(BUILD)/bench/concurrency.md

# Puts what the last runs printed and drew into the documents.
bench-document:
	@$(PYTHON) bench/document.py $(BUILD)/bench docs/performance.md
	@cp $(BUILD)/bench/size.svg docs/scale.svg

clean:
	rm -rf $(BUILD) alineo.so alineo_ledger.so shared/*.o pg_ext/*.o

-include $(CORE_OBJ:.o=.d) $(SQLITE_OBJ:.o=.d) $(COMPILED_IN_OBJ:.o=.d)
-include $(wildcard $(BUILD)/tests/*/*.d $(BUILD)/bench/*.d)
-include $(FUZZ_CORE:.o=.d) $(FUZZ_SQLITE:.o=.d) $(wildcard $(FUZZ)/tests/fuzz/*.d)

endif
