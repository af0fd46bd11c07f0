import Foundation
import Testing

@testable import ReactorDaemon

struct ConfigFileTests {
    /// A temporary directory, removed with this object.
    private final class Directory {
        let url: URL

        init() throws {
            url = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask,
                appropriateFor: FileManager.default.temporaryDirectory, create: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ bytes: Data) throws -> String {
            let file = url.appendingPathComponent("r.yaml")
            try bytes.write(to: file)
            return file.path
        }
    }

    private func refusal(of path: String) -> String {
        let error = #expect(throws: ConfigError.self) { try DaemonConfig(file: path) }
        return error?.description ?? ""
    }

    @Test("a file is read, and errors use its name as given")
    func reads() throws {
        let directory = try Directory()
        let path = try directory.file(Data(oneReactor.utf8))
        #expect(try DaemonConfig(file: path).file == path)
    }

    @Test("a missing file, a directory, and a path through a file have different errors")
    func unreadable() throws {
        let directory = try Directory()
        let file = try directory.file(Data())
        let texts = [
            refusal(of: directory.url.path + "/none.yaml"), refusal(of: directory.url.path),
            refusal(of: file + "/r.yaml"),
        ]
        #expect(texts[0].hasSuffix("none.yaml: no such file; give its path with --config"))
        #expect(texts[1].hasSuffix(": is a directory, expected a YAML file"))
        #expect(texts[2].hasSuffix(": no such file: a part of the path is not a directory"))
    }

    @Test("a file without read permission has its own error", .disabled(if: geteuid() == 0))
    func forbidden() throws {
        let directory = try Directory()
        let path = try directory.file(Data(oneReactor.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(refusal(of: path).contains("permission to read it is missing"))
    }

    @Test("an endless file is refused at the bound")
    func endless() {
        #expect(refusal(of: "/dev/zero").contains("larger than 16MiB"))
    }

    @Test("bytes that are not text are reported with their line")
    func notText() throws {
        let directory = try Directory()
        let path = try directory.file(Data("a: 1\nb: ".utf8) + [0xFF, 0x0A])
        #expect(refusal(of: path).hasPrefix("\(path):2: expected UTF-8 text"))
    }

    @Test("a byte order mark at the start is not part of the first key")
    func byteOrderMark() throws {
        let directory = try Directory()
        let path = try directory.file(Data([0xEF, 0xBB, 0xBF]) + Data(oneReactor.utf8))
        #expect(try DaemonConfig(file: path).reactors.count == 1)
    }
}
