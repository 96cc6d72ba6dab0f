/*
 * database.hpp - a database in memory with the extension compiled in, values of
 * every type to call its functions with, and what it holds and answers as text.
 */
#ifndef ALINEO_FUZZ_DATABASE_HPP
#define ALINEO_FUZZ_DATABASE_HPP

#include "harness.hpp"

#include <sqlite3.h>
#include <vector>

/* A value of SQLite of any type. */
struct sql_value {
    enum { NONE, INTEGER, REAL, TEXT, UTF16, BLOB, ZEROS } type = NONE;
    int64_t integer = 0;
    double real = 0;
    std::string bytes;
};

sql_value value_of(choices &in);
/* Most often a value that fits the argument or column of that name. */
sql_value value_for(choices &in, std::string_view what);

/* What a statement answered: rows of columns, as text with their types, or the
 * error, "-" in front. */
struct answer {
    std::vector<std::vector<std::string>> rows;
    std::string error;
    int code = SQLITE_OK;

    bool failed() const
    {
        return code != SQLITE_OK;
    }
    bool operator==(const answer &other) const
    {
        return rows == other.rows && error == other.error && code == other.code;
    }
};

class database
{
  public:
    enum kind { FRESH, MADE, LOOSE, UTF16_FRESH }; /* LOOSE: columns without types */

    explicit database(unsigned kind);
    /* Checks its integrity, that nothing of it is in use, and that all memory is
     * given back. */
    ~database();
    answer ask(const std::string &sql, const std::vector<sql_value> &values = {});
    /* Every row of every table of the ledger. */
    std::string contents();
    bool in_transaction()
    {
        return sqlite3_get_autocommit(db) == 0;
    }

  private:
    sqlite3 *db = nullptr;
};

#endif
