import GRDB
import GRDBSQLite

extension Database {
    /// What the operating system answered when a write to the log was refused last; 0 if none was.
    ///
    /// *C*: `sqlite3_file_control`, and the same of the log's file. `sqlite3_system_errno` is not
    /// told where it is a commit that fails.
    var logCode: Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        var code: Int32 = 0
        let status = unsafe sqlite3_file_control(
            sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard status == SQLITE_OK, let log = unsafe log, let methods = unsafe log.pointee.pMethods,
            let control = unsafe methods.pointee.xFileControl
        else { return 0 }
        let answer = unsafe control(log, SQLITE_FCNTL_LAST_ERRNO, &code)
        return answer == SQLITE_OK ? code : 0
    }
}
