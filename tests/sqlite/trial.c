/*
 * trial.c - see trial.h.
 */
#include "trial.h"

#include <string.h>

static void complain(const trial *t, long nth, const char *what, const answer *got,
                     const answer *expected)
{
    print_error("%s\n%s, %s, fault %ld: %s\ncode %d, %s\n%s\n", t->call->sql, t->at->name, t->fault,
                nth, what, got->rc, got->message, got->text);
    if (expected != NULL)
        print_error("and not\n%s\n", expected->text);
    fail();
}

static void expect_dump(const trial *t, sqlite3 *db, long nth, const char *what,
                        const answer *expected)
{
    static answer now;

    dump(db, &now);
    if (!same_answer(&now, expected))
        complain(t, nth, what, &now, expected);
}

static const char *answer_of(const trial *t)
{
    return t->at->empty ? t->call->empty : t->call->answer;
}

static void expect_answer(const trial *t, long nth, const char *what, const answer *got)
{
    if (!answers(got, answer_of(t)))
        complain(t, nth, what, got, NULL);
}

bool trial_applies(const call_case *call, const situation *at)
{
    return at->empty ? call->empty != NULL && call->before == NULL : true;
}

/* All up to the call. */
static void lead_up(const trial *t, sqlite3 *db)
{
    if (t->at->inside)
        run(db, "BEGIN; CREATE TABLE IF NOT EXISTS marks(n); INSERT INTO marks VALUES (1)");
    if (t->call->before != NULL)
        run(db, t->call->before);
}

static void warm_up(const trial *t, sqlite3 *db)
{
    static answer got;

    run(db, "BEGIN");
    if (t->call->before != NULL)
        run(db, t->call->before);
    ask(db, t->call->sql, &got);
    expect_answer(t, 0, "without a fault", &got);
    run(db, "ROLLBACK");
}

static void call_again(const trial *t, sqlite3 *db, long nth)
{
    static answer got;

    ask(db, t->call->sql, &got);
    expect_answer(t, nth, "the next call is wrong", &got);
}

void trial_begin(trial *t, sqlite3 *db)
{
    dump(db, &t->start);
    lead_up(t, db);
    dump(db, &t->ready);
    call_again(t, db, 0);
    dump(db, &t->done);
    if (!t->at->empty)
        assert_int_equal(same_answer(&t->ready, &t->done), !t->call->writes);
    if (t->at->inside)
        run(db, "COMMIT");
    t->left = &t->done;
}

/* The error is the engine's, in its words behind the function's name. Running
 * out of memory leaves no memory for words. */
static void expect_error(const trial *t, long nth, bool struck, const answer *got)
{
    int len;
    const char *name = call_function(t->call, &len);
    bool named = strncmp(got->message, name, (size_t)len) == 0 && got->message[len] == ':';

    if (!struck)
        complain(t, nth, "an error without a fault", got, NULL);
    if (!t->is_its_error(got))
        complain(t, nth, "not the fault's error", got, NULL);
    if (!named && (got->rc & 0xff) != SQLITE_NOMEM && !call_gives_rows(t->call))
        complain(t, nth, "the error names no function", got, NULL);
}

/* After an error: where the transaction is over, that is for all of it. */
static void expect_as_it_was(trial *t, sqlite3 *db, long nth, const answer *error)
{
    static answer now;
    bool over = t->at->inside && sqlite3_get_autocommit(db);

    dump(db, &now);
    if (t->comes_late != NULL && t->comes_late(error) && same_answer(&now, &t->done)) {
        t->late++;
        t->left = &t->done;
        return;
    }
    t->left = over ? &t->start : &t->ready;
    if (!same_answer(&now, t->left))
        complain(t, nth, sqlf("the ledger is not as it was after code %d", error->rc), &now,
                 t->left);
    /* Every other time the failure is the last that happens. */
    if (nth % 2 == 0)
        return;
    if (over)
        lead_up(t, db);
    call_again(t, db, nth);
    t->left = &t->done;
}

static void spoil(sqlite3 *db)
{
    static answer any;

    if (!sqlite3_get_autocommit(db))
        ask(db, "ROLLBACK", &any);
    dump(db, &any);
}

static bool run_commit(trial *t, sqlite3 *db, long nth)
{
    static answer got;

    call_again(t, db, 0);
    t->arm(nth);
    ask(db, "COMMIT", &got);
    bool struck = t->disarm();
    t->left = &t->done;
    if (got.rc == SQLITE_OK)
        return struck;
    if (t->on_error != NULL)
        t->on_error(t, nth);
    if (!struck || !t->is_its_error(&got))
        complain(t, nth, "not the fault's error", &got, NULL);
    if (sqlite3_get_autocommit(db))
        expect_as_it_was(t, db, nth, &got);
    if (!sqlite3_get_autocommit(db))
        run(db, "COMMIT");
    return struck;
}

bool trial_run(trial *t, sqlite3 *db, long nth)
{
    static answer got;

    if (t->at->cached)
        warm_up(t, db);
    lead_up(t, db);
    if (t->at->commit)
        return run_commit(t, db, nth);
    t->arm(nth);
    ask(db, t->call->sql, &got);
    bool struck = t->disarm();
    if (t->spoils) {
        spoil(db);
        return struck;
    }
    t->left = &t->done;
    if (got.rc != SQLITE_OK && t->on_error != NULL)
        t->on_error(t, nth);
    if (got.rc == SQLITE_OK) {
        expect_answer(t, nth, "the answer is wrong", &got);
    } else {
        expect_error(t, nth, struck, &got);
        expect_as_it_was(t, db, nth, &got);
    }
    if (!sqlite3_get_autocommit(db))
        run(db, "COMMIT");
    expect_dump(t, db, nth, "the ledger is wrong", t->left);
    return struck;
}

void trial_look(const trial *t, sqlite3 *db, long nth)
{
    static answer check;

    ask(db, "PRAGMA integrity_check", &check);
    if (!answers(&check, "ok"))
        complain(t, nth, "the file is damaged", &check, NULL);
    expect_dump(t, db, nth, "the file's ledger is wrong", t->left);
}
