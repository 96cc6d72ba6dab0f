/*
 * test_text.c - what a program printed, through every way out: text columns show
 * what a text cannot hold, alineo_output and the document hold it exactly.
 */
#include "support.h"

#define SB        "sb-1"
#define REPLACED  "\xef\xbf\xbd"     /* U+FFFD */
#define NULL_SIGN "\xe2\x90\x80"     /* U+2400 */
#define EMOJI     "\xf0\x9f\x98\x80" /* U+1F600, \ud83d \ude00 */

#define STDOUT "SELECT stdout FROM alineo_execs('ci', 'sb-1')"
#define BYTES  "SELECT alineo_output('ci', 'sb-1', 1)"
/* The document from the first "stdout" up to "stderr". */
#define DOCUMENT                                                                                   \
    "SELECT substr(d, p, instr(d, ',' || char(34) || 'stderr') - p) FROM"                          \
    " (SELECT d, instr(d, char(34) || 'stdout') AS p FROM (SELECT alineo_resume('sb-1') AS d))"

/* One exec whose output comes in the chunks given. */
#define RAN(...)                                                                                   \
    {                                                                                              \
        CREATED(0, SB, "{}"), STARTED(1, SB, 1, "ls"), __VA_ARGS__, COMPLETED(8, SB, 1, 0),        \
            CHECKPOINT(9, SB, "s")                                                                 \
    }
#define CHUNK(text) OUTPUT(2, SB, 1, "stdout", text)

static const ledger_case cases[] = {
    {"a column shows NUL as U+2400", RAN(CHUNK("a\\u0000b")), STDOUT, "a" NULL_SIGN "b"},
    {"alineo_output holds NUL", RAN(CHUNK("a\\u0000b")), BYTES, "0x610062"},
    {"the document holds NUL", RAN(CHUNK("a\\u0000b")), DOCUMENT, "'stdout':'a\\u0000b'"},
    {"a column shows half a surrogate pair as U+FFFD", RAN(CHUNK("a\\ud83db")), STDOUT,
     "a" REPLACED "b"},
    {"alineo_output holds half a surrogate pair as U+FFFD", RAN(CHUNK("\\ude00")), BYTES,
     "0xefbfbd"},
    {"the document holds half a surrogate pair", RAN(CHUNK("\\uDE00")), DOCUMENT,
     "'stdout':'\\ude00'"},
    {"halves of a pair in two chunks are joined in a column",
     RAN(CHUNK("a\\ud83d"), CHUNK("\\ude00b")), STDOUT, "a" EMOJI "b"},
    {"halves of a pair in two chunks are joined by alineo_output",
     RAN(CHUNK("\\ud83d"), CHUNK("\\ude00")), BYTES, "0xf09f9880"},
    {"halves of a pair in two chunks are joined in the document",
     RAN(CHUNK("\\ud83d"), CHUNK("\\ude00")), DOCUMENT, "'stdout':'" EMOJI "'"},
    {"an empty chunk between two halves keeps them together",
     RAN(CHUNK("\\ud83d"), CHUNK(""), CHUNK("\\ude00")), STDOUT, EMOJI},
    {"halves in the wrong order are not joined", RAN(CHUNK("\\ude00"), CHUNK("\\ud83d")), STDOUT,
     REPLACED REPLACED},
    {"halves parted by a chunk of another stream are joined",
     RAN(CHUNK("\\ud83d"), OUTPUT(3, SB, 1, "stderr", "e"), CHUNK("\\ude00")), STDOUT, EMOJI},
    {"halves in stdout and stderr are not joined",
     RAN(CHUNK("\\ud83d"), OUTPUT(3, SB, 1, "stderr", "\\ude00")),
     "SELECT stdout, stderr FROM alineo_execs('ci', 'sb-1')", REPLACED "|" REPLACED},
    {"escapes are decoded", RAN(CHUNK("\\u0041\\n\\t\\/\\\\\\u00e9\\ud83d\\ude00")), BYTES,
     "0x410a092f5cc3a9f09f9880"},
    {"U+FDD0 is a character like others, and not an escape of SQLite's",
     RAN(CHUNK("\\ufdd00000 \xef\xb7\x90"
               "0000")),
     BYTES, "0xefb7903030303020efb79030303030"},
    {"the document escapes control characters in the short form where there is one",
     RAN(CHUNK("\\u0008\\u000c\\u000a\\u000d\\u0009\\u001f\\u007f\\u2028")), DOCUMENT,
     "'stdout':'\\b\\f\\n\\r\\t\\u001f\x7f\xe2\x80\xa8'"},
    {"a command shows what its column cannot hold",
     {{SB, "exec.started", "{'seq':1,'cmd':'a\\u0000\\ud83d'}", 1}},
     "SELECT command FROM alineo_execs('ci', 'sb-1')",
     "a" NULL_SIGN REPLACED},
    {"alineo_output is stdout where no stream is named",
     RAN(CHUNK("o"), OUTPUT(3, SB, 1, "stderr", "e"), OUTPUT(4, SB, 1, "stdin", "i")),
     "SELECT alineo_output('ci', 'sb-1', 1), alineo_output('ci', 'sb-1', 1, NULL),"
     " alineo_output('ci', 'sb-1', 1, 'stdout'), alineo_output('ci', 'sb-1', 1, 'stderr'),"
     " alineo_output('ci', 'sb-1', 1, 'stdin')",
     "0x6f|0x6f|0x6f|0x65|0x69"},
    {"alineo_output of a stream that printed nothing is empty, of no exec NULL", RAN(CHUNK("o")),
     "SELECT alineo_output('ci', 'sb-1', 1, 'stderr'), alineo_output('ci', 'sb-1', 2),"
     " alineo_output('ci', 'sb-2', 1), alineo_output('cd', 'sb-1', 1)",
     "0x|NULL|NULL|NULL"},
    {"alineo_output is that of the latest attempt in the whole history",
     RAN(CHUNK("old"), COMPLETED(3, SB, 1, 0), CHECKPOINT(4, SB, "t"), STARTED(5, SB, 1, "b"),
         CHUNK("new")),
     BYTES, "0x6e6577"},
    {"alineo_output takes a seq as a double", RAN(CHUNK("o")),
     "SELECT alineo_output('ci', 'sb-1', 1.0)", "0x6f"},
    {"stdin texts are joined by alineo_output",
     RAN(OUTPUT(2, SB, 1, "stdin", "\\ud83d"), OUTPUT(3, SB, 1, "stdin", "\\ude00y\\u0000")),
     "SELECT alineo_output('ci', 'sb-1', 1, 'stdin')", "0xf09f98807900"},
};

/* A character of three bytes can only be split by a client that sends bytes as
 * they come; what it appends is refused, and nothing is lost silently. */
static void half_a_character_in_bytes_is_refused(void **state)
{
    run(db_of(state), "SELECT alineo_init()");
    assert_refused(db_of(state),
                   "SELECT alineo_append('ci', 'sb-1', 'exec.output', '{\"text\":\"' ||"
                   " CAST(x'e282' AS TEXT) || '\"}')",
                   "alineo_append: payload is not valid JSON at byte 9: invalid UTF-8");
}

static void a_megabyte_of_output_comes_out_as_it_went_in(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
            " SELECT alineo_append_batch(json_group_array(json_object('name', 'ci', 'sandboxId',"
            " 'sb-1', 'event', 'exec.output', 'ts', i, 'payload', json_object('seq', 1, 'type',"
            " 'stdout', 'text', printf('%04d%.1020c', i, 'x'))))) FROM n");
    assert_rows(db,
                "SELECT length(stdout), substr(stdout, 1024 * 499 + 1, 5),"
                " stdout = CAST(alineo_output('ci', 'sb-1', 1) AS TEXT)"
                " FROM alineo_execs('ci', 'sb-1')",
                "1024000|0500x|1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(half_a_character_in_bytes_is_refused),
        MEMORY_TEST(a_megabyte_of_output_comes_out_as_it_went_in),
    };
    int failed = run_cases("text", cases, COUNT_OF(cases));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
