# alineo_ledger: the core in shared/, compiled into alineo.so for SQLite and
# into alineo_ledger for PostgreSQL.
#
#   make                  builds alineo.so
#   make install-sqlite   puts it where `.load alineo` finds it
#   make demo             shows the ledger at work on recorded sessions
#   make check            builds everything and passes every test
#   make check-asan       the C suites under AddressSanitizer and UBSan
#   make check-valgrind   the C suites under valgrind
#   make bench            the ledger's speed, as ratios against plain SQL
#
# demo, check* and bench install what they need from Debian (as root).

.DEFAULT_GOAL := alineo.so

BUILD      ?= build
CFLAGS     ?= -O2 -g
PREFIX     ?= /usr
# On the loader's path, so that a bare name is found from any folder.
SQLITE_DIR ?= $(PREFIX)/lib/$(shell $(CC) -print-multiarch 2>/dev/null)
INSTALL    ?= install
PYTHON     ?= /usr/bin/python3

BUILD_PACKAGES    := gcc libc6-dev libsqlite3-dev
DEMO_PACKAGES     := $(BUILD_PACKAGES) sqlite3 python3
CHECK_PACKAGES    := $(DEMO_PACKAGES) libcmocka-dev clang g++ nodejs npm
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

alineo.so: $(BUILD)/alineo.so
	cp $< $@

.PHONY: install-sqlite uninstall-sqlite
install-sqlite: alineo.so
	$(INSTALL) -d $(DESTDIR)$(SQLITE_DIR)
	$(INSTALL) -m 755 alineo.so $(DESTDIR)$(SQLITE_DIR)/alineo.so

uninstall-sqlite:
	rm -f $(DESTDIR)$(SQLITE_DIR)/alineo.so

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

# The one test that looks inside: it explains the statements themselves.
$(BUILD)/tests/sqlite/test_plans: $(BUILD)/sqlite_ext/statements.o
$(BUILD)/tests/sqlite/test_plans.o: TEST_FLAGS += -Isqlite_ext

.SECONDARY:

.PHONY: check check-packages check-c check-core-alone check-conformance check-docs demo
check: check-packages
	@$(MAKE) --no-print-directory check-core-alone
	@$(MAKE) --no-print-directory check-c
	@$(MAKE) --no-print-directory check-conformance
	@$(MAKE) --no-print-directory check-docs

check-packages:
	@scripts/install-packages $(CHECK_PACKAGES)

# The core knows no engine: it compiles alone, under both compilers.
check-core-alone:
	@! grep -nE '#include *[<"](sqlite3|postgres|fmgr)' shared/*
	@for cc in gcc clang; do for file in $(CORE_SRC); do \
	  $$cc -std=c11 $(WARNINGS) -fsyntax-only $$file || exit 1; done; done
	@echo "the core compiles alone under gcc and clang"

check-c: $(BUILD)/alineo.so $(CORE_TESTS) $(SQLITE_TESTS)
	@ALINEO_SO=$(abspath $(BUILD)/alineo.so) scripts/run-tests $(CORE_TESTS) $(SQLITE_TESTS)

check-docs: alineo.so
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/docs/check_documents.py
	@ALINEO_SO=$(abspath alineo.so) $(PYTHON) tests/docs/run_examples.py --node $(BUILD)/node

check-conformance: alineo.so
	@$(PYTHON) tests/conformance/run.py --sqlite alineo.so

.PHONY: check-asan check-valgrind
check-asan: SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
check-asan: check-packages
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  SANITIZE="$(SANITIZERS)" check-c

check-valgrind:
	@scripts/install-packages $(VALGRIND_PACKAGES)
	@TEST_WRAPPER="valgrind -q --error-exitcode=9 --leak-check=full --trace-children=no" \
	  ALINEO_VALGRIND=1 $(MAKE) --no-print-directory check-c

demo:
	@scripts/install-packages $(DEMO_PACKAGES)
	@$(MAKE) --no-print-directory -s alineo.so
	@demo/demo.sh $(abspath alineo.so)

# --- benchmarks ---------------------------------------------------------------

$(BUILD)/bench/%: bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARNINGS) -D_POSIX_C_SOURCE=200809L $(CFLAGS) $< -lsqlite3 -o $@

.PHONY: bench clean
bench:
	@scripts/install-packages $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory -s alineo.so $(BUILD)/bench/bench_sqlite
	@$(BUILD)/bench/bench_sqlite $(abspath alineo.so)

clean:
	rm -rf $(BUILD) alineo.so

-include $(CORE_OBJ:.o=.d) $(SQLITE_OBJ:.o=.d)
-include $(wildcard $(BUILD)/tests/*/*.d)
