/*
 * test_json_suite.c - the scanner against JSONTestSuite: every y_ file is
 * accepted, every n_ file refused, and every i_ file decided here.
 *
 * The folder is $ALINEO_JSON_SUITE, or the one beside the repository; without
 * it the tests are skipped.
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"
#include "json_scan.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What RFC 8259 leaves to the implementation. */
static const struct {
    const char *file;
    bool accepted;
    const char *why;
} decided[] = {
    {"i_number_double_huge_neg_exp.json", true, "792 digits behind the point fit numeric"},
    {"i_number_huge_exp.json", false, "beyond numeric"},
    {"i_number_neg_int_huge_exp.json", true, "10,000 digits fit numeric"},
    {"i_number_pos_double_huge_exp.json", true, "10,000 digits fit numeric"},
    {"i_number_real_neg_overflow.json", true, "100,006 digits fit numeric"},
    {"i_number_real_pos_overflow.json", true, "100,006 digits fit numeric"},
    {"i_number_real_underflow.json", false, "ten million digits behind the point do not fit"},
    {"i_number_too_big_neg_int.json", true, "kept to the last digit"},
    {"i_number_too_big_pos_int.json", true, "kept to the last digit"},
    {"i_number_very_big_negative_int.json", true, "kept to the last digit"},
    {"i_object_key_lone_2nd_surrogate.json", true, "an unpaired surrogate is text"},
    {"i_string_1st_surrogate_but_2nd_missing.json", true, "an unpaired surrogate is text"},
    {"i_string_1st_valid_surrogate_2nd_invalid.json", true, "an unpaired surrogate is text"},
    {"i_string_UTF-16LE_with_BOM.json", false, "not UTF-8"},
    {"i_string_UTF-8_invalid_sequence.json", false, "not UTF-8"},
    {"i_string_UTF8_surrogate_U+D800.json", false, "a raw surrogate is not UTF-8"},
    {"i_string_incomplete_surrogate_and_escape_valid.json", true, "an unpaired surrogate is text"},
    {"i_string_incomplete_surrogate_pair.json", true, "an unpaired surrogate is text"},
    {"i_string_incomplete_surrogates_escape_valid.json", true, "unpaired surrogates are text"},
    {"i_string_invalid_lonely_surrogate.json", true, "an unpaired surrogate is text"},
    {"i_string_invalid_surrogate.json", true, "an unpaired surrogate is text"},
    {"i_string_invalid_utf-8.json", false, "not UTF-8"},
    {"i_string_inverted_surrogates_U+1D11E.json", true, "unpaired surrogates are text"},
    {"i_string_iso_latin_1.json", false, "not UTF-8"},
    {"i_string_lone_second_surrogate.json", true, "an unpaired surrogate is text"},
    {"i_string_lone_utf8_continuation_byte.json", false, "not UTF-8"},
    {"i_string_not_in_unicode_range.json", false, "beyond U+10FFFF"},
    {"i_string_overlong_sequence_2_bytes.json", false, "overlong UTF-8"},
    {"i_string_overlong_sequence_6_bytes.json", false, "overlong UTF-8"},
    {"i_string_overlong_sequence_6_bytes_null.json", false, "overlong UTF-8"},
    {"i_string_truncated-utf-8.json", false, "not UTF-8"},
    {"i_string_utf16BE_no_BOM.json", false, "not UTF-8"},
    {"i_string_utf16LE_no_BOM.json", false, "not UTF-8"},
    {"i_structure_500_nested_arrays.json", true, "up to 1,000 levels"},
    {"i_structure_UTF-8_BOM_empty_object.json", false, "a byte order mark is not JSON"},
};

static const char *folder(void)
{
    const char *set = getenv("ALINEO_JSON_SUITE");

    return set != NULL ? set : "../shared/json-test-suite/test_parsing";
}

static DIR *open_folder(void)
{
    DIR *files = opendir(folder());

    if (files == NULL) {
        print_message("skipped: no JSONTestSuite in %s (set ALINEO_JSON_SUITE)\n", folder());
        skip();
    }
    return files;
}

/* Whether the scanner accepts a file, as a block of exactly its bytes. */
static bool accepts(const char *name)
{
    static char text[1 << 20];
    char path[4096];
    alineo_scan scan;

    assert_true(snprintf(path, sizeof path, "%s/%s", folder(), name) < (int)sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    assert_true(len < sizeof text);
    fclose(file);
    alineo_span copy = exact_copy((alineo_span){text, len});
    alineo_scan_init(&scan, copy);
    bool accepted = alineo_scan_document(&scan);
    assert_int_equal(scan.reason == NULL, accepted);
    assert_true(scan.offset <= len);
    exact_free(copy);
    return accepted;
}

/* Asserts that every file with this first letter is accepted, or refused. */
static void assert_all(char letter, bool accepted)
{
    DIR *files = open_folder();
    size_t count = 0, wrong = 0;
    struct dirent *file;

    while ((file = readdir(files)) != NULL) {
        if (file->d_name[0] != letter || file->d_name[1] != '_')
            continue;
        count++;
        if (accepts(file->d_name) == accepted)
            continue;
        print_error("%s is %s\n", file->d_name, accepted ? "refused" : "accepted");
        wrong++;
    }
    closedir(files);
    assert_int_equal(wrong, 0);
    assert_true(count > 0);
}

static void every_text_that_is_json_is_accepted(void **state)
{
    (void)state;
    assert_all('y', true);
}

static void every_text_that_is_not_json_is_refused(void **state)
{
    (void)state;
    assert_all('n', false);
}

static void what_the_standard_leaves_open_is_as_decided(void **state)
{
    DIR *files = open_folder();
    size_t wrong = 0;
    struct dirent *file;

    (void)state;
    while ((file = readdir(files)) != NULL) {
        if (strncmp(file->d_name, "i_", 2) != 0)
            continue;
        size_t i = 0;
        while (i < COUNT_OF(decided) && strcmp(decided[i].file, file->d_name) != 0)
            i++;
        if (i == COUNT_OF(decided)) {
            print_error("%s is not decided\n", file->d_name);
            wrong++;
        } else if (accepts(file->d_name) != decided[i].accepted) {
            print_error("%s should be %s: %s\n", file->d_name,
                        decided[i].accepted ? "accepted" : "refused", decided[i].why);
            wrong++;
        }
    }
    closedir(files);
    assert_int_equal(wrong, 0);
}

static void every_decided_file_is_there(void **state)
{
    (void)state;
    closedir(open_folder());
    for (size_t i = 0; i < COUNT_OF(decided); i++)
        (void)accepts(decided[i].file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_that_is_json_is_accepted),
        cmocka_unit_test(every_text_that_is_not_json_is_refused),
        cmocka_unit_test(what_the_standard_leaves_open_is_as_decided),
        cmocka_unit_test(every_decided_file_is_there),
    };

    return cmocka_run_group_tests_name("json_suite", tests, NULL, NULL);
}
