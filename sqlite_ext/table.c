/*
 * table.c - the virtual table behind every row function. See table.h.
 */
#include "table.h"

#include <string.h>

typedef struct registration {
    ledger *ledger;
    const table_function *function;
} registration;

typedef struct table {
    sqlite3_vtab base; /* first: SQLite sees only this */
    ledger *ledger;
    const table_function *function;
} table;

static int argument_count(const table_function *function)
{
    int count = 0;

    while (function->arguments[count] != NULL)
        count++;
    return count;
}

static const table *table_of(const table_cursor *cursor)
{
    return (const table *)cursor->base.pVtab;
}

static int table_connect(sqlite3 *db, void *user, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    const registration *r = user;
    int rc = check_table_name(argv, message);

    (void)argc;
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_str *sql = sqlite3_str_new(db);
    /* Hidden names are never the visible ones: "in_name" beside "name". */
    sqlite3_str_appendf(sql, "CREATE TABLE x(%s", r->function->columns);
    for (int i = 0; r->function->arguments[i] != NULL; i++)
        sqlite3_str_appendf(sql, ", in_%s HIDDEN", r->function->arguments[i]);
    sqlite3_str_appendchar(sql, 1, ')');
    char *declaration = sqlite3_str_finish(sql);
    rc = declaration == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, declaration);
    sqlite3_free(declaration);
    if (rc != SQLITE_OK)
        return rc;
    table *t = sqlite3_malloc64(sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->ledger = r->ledger;
    t->function = r->function;
    *vtab = &t->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* The bound a column has, or -1. */
static int bound_of(const table_function *function, int column)
{
    for (int i = 0; i < TABLE_BOUNDS; i++)
        if (function->bounds[i] == column + 1)
            return i;
    return -1;
}

static bool is_comparison(unsigned char op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
           op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
           op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* Assigns the arguments: argv then holds those present, in order, and `idxNum`
 * has a bit for each. An argument that is not usable in this plan refuses the
 * plan, for without it the answer would silently be another. */
static int plan_arguments(const table_function *function, sqlite3_index_info *info, int *used)
{
    int count = argument_count(function);

    for (int a = 0; a < count; a++) {
        for (int i = 0; i < info->nConstraint; i++) {
            if (info->aConstraint[i].iColumn != function->column_count + a ||
                info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
                continue;
            if (!info->aConstraint[i].usable)
                return SQLITE_CONSTRAINT;
            if (info->idxNum & 1 << a)
                continue;
            info->idxNum |= 1 << a;
            info->aConstraintUsage[i].argvIndex = ++*used;
            info->aConstraintUsage[i].omit = 1;
        }
    }
    return SQLITE_OK;
}

/* Assigns the comparisons behind the arguments; `idxStr` has two characters
 * for each, the bound and the operator. */
static int plan_bounds(const table_function *function, sqlite3_index_info *info, int used)
{
    char *plan = sqlite3_malloc64(2 * (sqlite3_uint64)info->nConstraint + 1);
    int len = 0;

    if (plan == NULL)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        int bound = bound_of(function, info->aConstraint[i].iColumn);
        if (bound < 0 || !info->aConstraint[i].usable || !is_comparison(info->aConstraint[i].op))
            continue;
        info->aConstraintUsage[i].argvIndex = ++used;
        plan[len++] = (char)('0' + bound);
        plan[len++] = (char)info->aConstraint[i].op;
        info->estimatedRows = info->estimatedRows / 10 + 1;
    }
    plan[len] = '\0';
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    return SQLITE_OK;
}

static void plan_order(const table_function *function, sqlite3_index_info *info)
{
    if (info->nOrderBy > TABLE_BOUNDS)
        return;
    for (int i = 0; i < info->nOrderBy; i++)
        if (info->aOrderBy[i].iColumn + 1 != function->order[i] ||
            info->aOrderBy[i].desc != function->descending)
            return;
    info->orderByConsumed = 1;
}

static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const table_function *function = ((table *)vtab)->function;
    int used = 0;

    info->idxNum = 0;
    info->estimatedRows = 1000;
    int rc = plan_arguments(function, info, &used);
    if (rc == SQLITE_OK)
        rc = plan_bounds(function, info, used);
    if (rc != SQLITE_OK)
        return rc;
    plan_order(function, info);
    info->estimatedCost = 100.0 + (double)info->estimatedRows;
    /* Without its arguments the function can only fail: any plan that has them
     * in parts, one for each side of an OR, is better. */
    int required = (1 << function->required) - 1;
    if ((info->idxNum & required) != required)
        info->estimatedCost = 1e30;
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    const table *t = (const table *)vtab;
    table_cursor *c = sqlite3_malloc64(t->function->cursor_size);

    if (c == NULL)
        return SQLITE_NOMEM;
    memset(c, 0, t->function->cursor_size);
    call_init(&c->call, t->ledger, t->function->name);
    c->done = true;
    *cursor = &c->base;
    return SQLITE_OK;
}

static void drop_arguments(table_cursor *cursor)
{
    for (int i = 0; i < TABLE_ARGUMENTS; i++) {
        sqlite3_value_free(cursor->arguments[i]);
        cursor->arguments[i] = NULL;
    }
}

static int table_close(sqlite3_vtab_cursor *base)
{
    table_cursor *cursor = (table_cursor *)base;

    table_of(cursor)->function->stop(cursor);
    drop_arguments(cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* The errors of a scan leave through here: the text goes to the table. */
static int table_result(table_cursor *cursor, alineo_code code)
{
    if (code == ALINEO_OK)
        return SQLITE_OK;
    cursor->done = true;
    return call_report_table(&cursor->call, cursor->base.pVtab);
}

static void narrow(table_bound *bound, unsigned char op, int64_t value)
{
    bool above = op == SQLITE_INDEX_CONSTRAINT_GT && value < INT64_MAX;
    bool below = op == SQLITE_INDEX_CONSTRAINT_LT && value > INT64_MIN;

    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE ||
        op == SQLITE_INDEX_CONSTRAINT_GT) {
        int64_t least = value + above;
        bound->least = least > bound->least ? least : bound->least;
    }
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE ||
        op == SQLITE_INDEX_CONSTRAINT_LT) {
        int64_t most = value - below;
        bound->most = most < bound->most ? most : bound->most;
    }
}

/* Reads argv as plan_arguments and plan_bounds laid it out. */
static alineo_code read_arguments(table_cursor *cursor, int present, const char *plan,
                                  sqlite3_value **argv)
{
    for (int a = 0; a < TABLE_ARGUMENTS; a++) {
        if (!(present & 1 << a))
            continue;
        cursor->arguments[a] = sqlite3_value_dup(*argv++);
        if (cursor->arguments[a] == NULL)
            return alineo_fail_memory(&cursor->call.error);
    }
    for (int i = 0; i < TABLE_BOUNDS; i++)
        cursor->bounds[i] = (table_bound){INT64_MIN, INT64_MAX};
    for (; *plan != '\0'; plan += 2, argv++)
        if (sqlite3_value_type(*argv) == SQLITE_INTEGER)
            narrow(&cursor->bounds[plan[0] - '0'], (unsigned char)plan[1],
                   sqlite3_value_int64(*argv));
    return ALINEO_OK;
}

static int table_next(sqlite3_vtab_cursor *base)
{
    table_cursor *cursor = (table_cursor *)base;

    return table_result(cursor, table_of(cursor)->function->next(cursor));
}

static int table_filter(sqlite3_vtab_cursor *base, int present, const char *plan, int argc,
                        sqlite3_value **argv)
{
    table_cursor *cursor = (table_cursor *)base;
    const table_function *function = table_of(cursor)->function;

    (void)argc;
    function->stop(cursor);
    drop_arguments(cursor);
    call_init(&cursor->call, cursor->call.ledger, function->name);
    cursor->done = false;
    alineo_code code = read_arguments(cursor, present, plan, argv);
    for (int i = 0; i < function->required && code == ALINEO_OK; i++) {
        if (!(present & 1 << i))
            code = alineo_fail(&cursor->call.error, ALINEO_BAD_ARGUMENT, "%s is required",
                               function->arguments[i]);
        else if (sqlite3_value_type(cursor->arguments[i]) == SQLITE_NULL)
            cursor->done = true;
    }
    if (code == ALINEO_OK && cursor->done)
        return SQLITE_OK;
    if (code == ALINEO_OK)
        code = function->start(cursor);
    if (code != ALINEO_OK || cursor->done)
        return table_result(cursor, code);
    return table_next(base);
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    return ((table_cursor *)base)->done;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    table_cursor *cursor = (table_cursor *)base;
    const table_function *function = table_of(cursor)->function;
    int hidden = column - function->column_count;

    if (hidden < 0)
        function->column(cursor, context, column);
    else if (cursor->arguments[hidden] != NULL)
        sqlite3_result_value(context, cursor->arguments[hidden]);
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    table_cursor *cursor = (table_cursor *)base;

    *rowid = table_of(cursor)->function->rowid(cursor);
    return SQLITE_OK;
}

static const sqlite3_module table_module = {
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xDestroy = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};

static void registration_free(void *user)
{
    registration *r = user;

    ledger_release(r->ledger);
    sqlite3_free(r);
}

int table_register(ledger *l, const table_function *function)
{
    registration *r = sqlite3_malloc64(sizeof *r);

    if (r == NULL)
        return SQLITE_NOMEM;
    r->ledger = ledger_hold(l);
    r->function = function;
    /* On failure too SQLite calls the destructor. */
    return sqlite3_create_module_v2(l->db, function->name, &table_module, r, registration_free);
}

const char *table_argument_name(const table_cursor *cursor, int index)
{
    return table_of(cursor)->function->arguments[index];
}

alineo_code table_text(table_cursor *cursor, int index, alineo_span *text)
{
    return call_text(&cursor->call, table_argument_name(cursor, index), cursor->arguments[index],
                     text);
}

alineo_code table_session(table_cursor *cursor, alineo_span *name, alineo_span *sandbox_id)
{
    alineo_code code = table_text(cursor, 0, name);

    return code == ALINEO_OK ? table_text(cursor, 1, sandbox_id) : code;
}

alineo_integer table_integer(const table_cursor *cursor, int index)
{
    return integer_of(cursor->arguments[index]);
}

alineo_code statement_start(statement_cursor *cursor, const char *table, statement_id id)
{
    call *c = &cursor->base.call;
    alineo_code code = call_take(c, id, &cursor->statement);

    cursor->id = id;
    cursor->table = table;
    cursor->base.done = code != ALINEO_OK && call_lacks(c, table);
    return cursor->base.done ? ALINEO_OK : code;
}

alineo_code statement_next(table_cursor *base)
{
    statement_cursor *cursor = (statement_cursor *)base;
    bool row;
    alineo_code code = call_step(&base->call, cursor->statement, &row);

    base->done = !row;
    return code != ALINEO_OK && call_lacks(&base->call, cursor->table) ? ALINEO_OK : code;
}

sqlite3_int64 statement_rowid(table_cursor *base)
{
    return sqlite3_column_int64(((statement_cursor *)base)->statement, 0);
}

/* FNV-1a, eight bytes at a time at the end. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001B3);
}

sqlite3_int64 table_hash(const table_cursor *cursor, int64_t number)
{
    uint64_t hash = mix(UINT64_C(0xCBF29CE484222325), (uint64_t)number);

    for (int a = 0; a < TABLE_ARGUMENTS; a++) {
        sqlite3_value *argument = cursor->arguments[a];
        int len = argument == NULL ? 0 : sqlite3_value_bytes(argument);
        const unsigned char *at = len == 0 ? NULL : sqlite3_value_blob(argument);
        len = at == NULL ? 0 : len;
        hash = mix(hash, (uint64_t)len + 1);
        for (int i = 0; i < len; i++)
            hash = mix(hash, at[i]);
    }
    return (sqlite3_int64)(hash ^ hash >> 29);
}

void statement_stop(table_cursor *base)
{
    statement_cursor *cursor = (statement_cursor *)base;

    ledger_give(base->call.ledger, cursor->id, cursor->statement);
    cursor->statement = NULL;
}
