import Foundation
import TestPrograms

extension ChildProcess {
    /// Starts a program as the user `uid`, with the group of that number and further `groups`, a
    /// list with commas. Only root can.
    convenience init(
        as uid: Int, groups: String = "", _ command: [String], input: String = "",
        in directory: TestDirectory, name: String = UUID().uuidString
    ) throws {
        let further = groups.isEmpty ? ["--clear-groups"] : ["--groups", groups]
        try self.init(
            "/usr/bin/setpriv",
            ["--reuid", "\(uid)", "--regid", "\(uid)"] + further + command, input: input,
            in: directory, name: name)
    }

    /// Starts `reactorctl` as the user `uid`, for the daemon with the socket at `path`.
    convenience init(
        as uid: Int, groups: String = "", reactorctl arguments: [String], socket path: String,
        in directory: TestDirectory, name: String = UUID().uuidString
    ) throws {
        try self.init(
            as: uid, groups: groups,
            [Built.product("reactorctl"), arguments[0], "--socket", path]
                + arguments.dropFirst(), in: directory, name: name)
    }
}

extension TestDirectory {
    /// Lets all users reach the files in the directory, such as a socket.
    @discardableResult
    func openToAll() throws -> TestDirectory {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return self
    }
}
