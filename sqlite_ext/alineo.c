/*
 * alineo.c - the entry point of alineo.so, and the list of what it registers.
 *
 * SQLite finds sqlite3_alineo_init from the file's name. Compiled in, with
 * SQLITE_CORE, the same function is given to sqlite3_auto_extension.
 */
#define ALINEO_ENTRY_FILE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "append.h"
#include "statement_cache.h"
#include "environments.h"
#include "guard.h"
#include "init.h"
#include "resume_functions.h"
#include "sandboxes.h"
#include "store.h"
#include "tables.h"
#include "version.h"

/* Newer than the oldest SQLite we run on; there it has no meaning and no harm. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

static void version_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    sqlite3_result_text(context, ALINEO_VERSION, -1, SQLITE_STATIC);
}

enum { WRITER = SQLITE_UTF8 | SQLITE_DIRECTONLY };

static const struct {
    const char *name;
    int least, most; /* arguments */
    int flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
    {"alineo_append", 3, 8, WRITER, append_function},
    {"alineo_append_batch", 1, 1, WRITER, append_batch_function},
    {"alineo_delete_sandbox", 2, 2, WRITER, delete_sandbox_function},
    {"alineo_save_environment", 3, 4, WRITER, save_environment_function},
    {"alineo_delete_environment", 1, 1, WRITER, delete_environment_function},
    {"alineo_guard", 1, 1, WRITER, guard_function},
    {"alineo_init", 0, 0, WRITER, init_function},
    {"alineo_resume", 1, 2, SQLITE_UTF8 | SQLITE_RESULT_SUBTYPE, resume_function},
    {"alineo_output", 3, 4, SQLITE_UTF8, output_function},
    {"alineo_visit", 6, 6, WRITER, visit_function}, /* internal, see store.h */
    /* internal, see guard.c: called by triggers of the database's own */
    {"alineo_guard_deleting", 1, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, guard_deleting_function},
    {"alineo_guard_updating", 6, 6, SQLITE_UTF8 | SQLITE_INNOCUOUS, guard_updating_function},
    {"alineo_version", 0, 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
     version_function},
};

static const table_function *const tables[] = {
    &replay_table,           &replay_cache_table,    &execs_table,
    &list_sandboxes_table,   &get_sandbox_table,     &last_checkpoint_table,
    &list_checkpoints_table, &get_environment_table, &list_environments_table,
    &migrated_table,
};

static int register_functions(ledger *l)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (int n = functions[i].least; n <= functions[i].most && rc == SQLITE_OK; n++)
            rc = sqlite3_create_function_v2(l->db, functions[i].name, n, functions[i].flags,
                                            ledger_hold(l), functions[i].call, NULL, NULL,
                                            ledger_release);
    return rc;
}

static int register_tables(ledger *l)
{
    int rc =
        sqlite3_create_module_v2(l->db, CACHE_TABLE, &cache_module, ledger_hold(l), ledger_release);

    if (rc == SQLITE_OK)
        rc = sqlite3_create_module_v2(l->db, "alineo_entries", &entries_module, NULL, NULL);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && rc == SQLITE_OK; i++)
        rc = table_register(l, tables[i]);
    return rc;
}

/* SQLITE_EXTENSION_INIT2 for several threads that load at once: only the first
 * writes, and the others see that it has. */
static void use_api(const sqlite3_api_routines *api)
{
#ifndef SQLITE_CORE
    const sqlite3_api_routines *before = __atomic_load_n(&sqlite3_api, __ATOMIC_ACQUIRE);

    while (before != api && !__atomic_compare_exchange_n(&sqlite3_api, &before, api, 0,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
#else
    (void)api;
#endif
}

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
    int sqlite3_alineo_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    use_api(api);
    if (sqlite3_libversion_number() < 3040000) {
        *message =
            sqlite3_mprintf("alineo needs SQLite 3.40 or later, this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    ledger *l = ledger_new(db);
    if (l == NULL)
        return SQLITE_NOMEM;
    int rc = register_functions(l);
    if (rc == SQLITE_OK)
        rc = register_tables(l);
    /* From here on the registrations hold it, as far as they came. */
    ledger_release(l);
    return rc;
}
