# alineo_ledger: the core in shared/, compiled into alineo.so for SQLite and
# into alineo_ledger for PostgreSQL.
#
#   make                builds alineo.so
#   make install-sqlite puts it where `.load alineo` finds it
#   make demo           shows the ledger at work on recorded sessions
#   make check          builds everything and passes every test
#   make check-asan, check-valgrind   the suite under the sanitizers, valgrind
#   make bench          ratios against plain SQL
#
# demo, check and bench install what they need (apt-get, as root).

.DEFAULT_GOAL := alineo.so

CC      ?= gcc
BUILD   ?= build
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wpedantic -Werror
LIBDIR  ?= /usr/lib/sqlite3

CORE_SRC   := $(sort $(wildcard shared/*.c))
SQLITE_SRC := $(sort $(wildcard sqlite_ext/*.c))
CORE_OBJ   := $(CORE_SRC:%.c=$(BUILD)/%.o)
SQLITE_OBJ := $(SQLITE_SRC:%.c=$(BUILD)/%.o)

# Both hosts load libraries into one name space: hide all but the entry point.
BASE_FLAGS   := -std=c11 $(WARN) -fPIC -fvisibility=hidden -MMD -MP
SQLITE_FLAGS := -D_POSIX_C_SOURCE=200809L -Ishared -Isqlite_ext
# A failed init leaves destructors behind in SQLite; nodelete keeps them mapped.
SQLITE_LINK  := -shared -Wl,-z,nodelete -Wl,-z,defs

$(BUILD)/shared/%.o: shared/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_FLAGS) $(CFLAGS) $(SAN) -Ishared -c $< -o $@

$(BUILD)/sqlite_ext/%.o: sqlite_ext/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_FLAGS) $(SQLITE_FLAGS) $(CFLAGS) $(SAN) -c $< -o $@

$(BUILD)/alineo.so: $(CORE_OBJ) $(SQLITE_OBJ)
	$(CC) $(SQLITE_LINK) $(LDFLAGS) $(SAN) $^ -lm -o $@

alineo.so: $(BUILD)/alineo.so
	cp $< $@

-include $(CORE_OBJ:.o=.d) $(SQLITE_OBJ:.o=.d)
