import Glibc

/// Files and directories by their paths, in a few calls.
///
/// *Place*: a daemon reads or makes files with it, besides its socket and its journal, before it
/// serves clients. *Owner*: any thread.
package enum FileSystem {
    /// Maximum bytes that one call reads.
    private static let partBytesMax = 1 << 20

    /// The bytes of a file or a pipe up to its end, or the first `byteCountMax`.
    ///
    /// *Throws*: with the system's code, such as `ENOENT`. *C*: `open`, `read`.
    package static func bytes(
        at path: String, byteCountMax: Int = .max
    ) throws(CallFailure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        return try bytes(of: descriptor, path, byteCountMax)
    }

    /// The bytes of standard input up to its end, or the first `byteCountMax`.
    ///
    /// *Throws*: with the system's code. *C*: `read`.
    package static func bytesOfInput(
        byteCountMax: Int = .max
    ) throws(CallFailure) -> [UInt8] {
        try bytes(of: STDIN_FILENO, "standard input", byteCountMax)
    }

    /// Whether `path` is a directory, or a link to one. *C*: `stat`.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the file at `path`, or the link itself, belongs to the user `uid`. *C*: `lstat`.
    package static func isOwned(_ path: String, by uid: UInt32) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_uid == uid
    }

    /// Makes the absolute directory `path` and its missing parents, for their owner alone; ignores
    /// those that it cannot make. *C*: `mkdir`.
    package static func makeDirectories(_ path: String) {
        var place = ""
        for part in path.split(separator: "/") {
            place += "/" + part
            _ = unsafe mkdir(place, 0o700)
        }
    }

    /// Replaces the file at `path`: a reader finds either the old content or the new one, complete.
    /// Everybody may read it. It is not made durable.
    ///
    /// *Throws*: with the system's code; the old file remains then. *C*: `unlink`, `open(O_EXCL)`,
    /// `write`, `rename`.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(CallFailure) {
        let newPath = path + ".new"
        // Others may write to the directory: a link of theirs under this name must not lead the
        // bytes, or the mode, to another file of this user.
        guard unsafe unlink(newPath) == 0 || errno == ENOENT else {
            throw .system("unlink", newPath)
        }
        let descriptor = unsafe open(
            newPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system("open", newPath) }
        defer { close(descriptor) }
        // The mode does not depend on the umask.
        guard fchmod(descriptor, 0o644) == 0 else { throw .system("fchmod", newPath) }
        do throws(CallFailure) {
            try StandardStream(descriptor: descriptor).write(bytes)
        } catch {
            _ = unsafe unlink(newPath)
            throw CallFailure(call: "write", code: error.code, subject: newPath)
        }
        guard unsafe rename(newPath, path) == 0 else { throw .system("rename", path) }
    }

    /// The names in a directory, in no order; none if it cannot be read. *C*: `readdir`.
    package static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func bytes(
        of descriptor: Int32, _ subject: String, _ byteCountMax: Int
    ) throws(CallFailure) -> [UInt8] {
        let stream = StandardStream(descriptor: descriptor)
        var bytes: [UInt8] = []
        while bytes.count < byteCountMax {
            let part: [UInt8]
            do {
                part = try stream.read(min(partBytesMax, byteCountMax - bytes.count))
            } catch {
                throw CallFailure(call: "read", code: error.code, subject: subject)
            }
            guard !part.isEmpty else { break }
            bytes += part
        }
        return bytes
    }
}
