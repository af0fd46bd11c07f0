#pragma once
#include <sqlite3.h>

/* Makes SQLite refuse an unknown double-quoted name, which it otherwise reads as text.
 * In C, since Swift does not import variadic functions. */
static inline void reactor_refuse_quoted_text(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0);
}
