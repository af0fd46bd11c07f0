import Foundation
import GuestbookCore
import ReactorClient
import ReactorCore
import TestPrograms
import Testing

@Suite("guide: the tutorial", .timeLimit(.minutes(10)))
struct TutorialTests {
    /// A file that the tutorial's reader writes.
    private struct Page {
        var path: String
        var text: String
    }

    private static func tutorial() throws -> String {
        let path = Built.root + "/Sources/ReactorCore/ReactorCore.docc/Tutorial.md"
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The tutorial's code blocks of one kind, each with the text before it.
    private static func blocks(of kind: String) throws -> [(before: String, text: String)] {
        let pieces = try tutorial().components(separatedBy: "```\(kind)\n")
        return zip(pieces, pieces.dropFirst()).map { before, rest in
            let text = rest.components(separatedBy: "```")[0]
            // The text before the previous block refers to that block.
            return (before.components(separatedBy: "```").last ?? "", text)
        }
    }

    /// The tutorial's files; each file is named last before its block.
    private static func pages() throws -> [Page] {
        try blocks(of: "swift").map { before, text in
            let names = before.matches(of: /`([\w\/-]+\.swift)`/).map { String($0.1) }
            return Page(path: try #require(names.last), text: text)
        }
    }

    private static func lines(of kind: String) throws -> [String] {
        try blocks(of: kind).flatMap { $0.text.split(separator: "\n").map(String.init) }
    }

    @Test("each file of the tutorial equals its file in a target of this package")
    func files() throws {
        let folder = Built.root + "/Tests/Guestbook/"
        let pages = try Self.pages()
        #expect(pages.count == 5 && pages[0].path == "Package.swift")
        for page in pages.dropFirst() {
            let text = try String(contentsOfFile: folder + page.path, encoding: .utf8)
            #expect(text == page.text, "\(page.path)")
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
        #expect(Set(files) == Set(pages.dropFirst().map(\.path)))
    }

    @Test(
        "the tutorial's manifest parses, with the targets and dependencies of its files here"
    )
    func manifest() async throws {
        let directory = TestDirectory()
        for page in try Self.pages() {
            let path = URL(filePath: directory.path("guestbook/" + page.path))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(page.text.utf8).write(to: path)
        }
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("reactord"), withDestinationPath: Built.root)
        let theirs = try await dump(directory.path("guestbook"), in: directory)
        let ours = try await dump(Built.root, in: directory)
        #expect(theirs.targets.count == 4)
        for target in theirs.targets {
            let twin = try #require(ours.targets.first { $0.name == target.name })
            #expect(twin.type == target.type && twin.arrows == target.arrows, "\(target.name)")
            let wing = target.type == "test" ? "Tests" : "Sources"
            #expect(twin.path == "Tests/Guestbook/\(wing)/\(target.name)")
        }
        let products = Set(theirs.targets.flatMap(\.products))
        #expect(products.isSubset(of: ours.products.map(\.name)) && products.count == 4)
    }

    @Test("the tutorial's shell commands print the shown output, with its own daemon")
    func shell() async throws {
        let daemon = try await start()
        let lines = try Self.lines(of: "sh run")
        #expect(lines.count == 4)
        for line in lines {
            let (code, output) = try await run(line, daemon)
            #expect(code == 0, "\(line)")
            if line.contains("get") { #expect(output.contains("Ada: hello")) }
        }
        let refused = try Self.lines(of: "sh fails")
        #expect(refused.count == 1)
        for line in refused {
            let (code, _) = try await run(line, daemon)
            #expect(code != nil && code != 0, "\(line)")
        }
    }

    @Test("the tutorial's client signs, shows the book, and reconnects to a restarted daemon")
    func client() async throws {
        let daemon = try await start()
        // stdbuf, because a program that prints into a file buffers its output.
        let sign = try ChildProcess(
            "/usr/bin/env", ["stdbuf", "-oL", Built.product("sign")],
            environment: ["XDG_RUNTIME_DIR": daemon.directory.path], in: daemon.directory,
            name: "sign")
        #expect(await sign.says("1 Bob: hello back"))
        let client = try await Client.connect(to: daemon.socketPath)
        let book = try await client.mirror(Guestbook.self, at: "/")
        guard case .applied = await book.dispatch(.sign(name: "Ada", text: "hello")) else {
            Issue.record("the entry was not signed")
            return
        }
        #expect(await sign.says("2 Ada: hello"))
        client.close()
        await daemon.stop()
        let next = try await start(in: daemon.directory)
        let (code, _) = try await run(
            #"reactorctl --daemon guestbook-daemon dispatch / '{"sign":{"name":"Cy","text":"again"}}'"#,
            next)
        #expect(code == 0)
        #expect(await sign.says("1 Cy: again"))
    }

    /// Starts the daemon at its default path in a run-time directory of the test's.
    private func start(
        in directory: TestDirectory = TestDirectory()
    ) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            "guestbook-daemon", config: nil,
            arguments: ["--socket", directory.path("guestbook-daemon.sock")], in: directory)
    }

    /// Runs a shell command with the products on the PATH and the daemon's run-time directory.
    private func run(
        _ line: String, _ daemon: DaemonProcess
    ) async throws -> (code: Int32?, output: String) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let folder = Built.product("").trimmingCharacters(in: ["/"])
        let process = try ChildProcess(
            "/bin/sh", ["-c", line],
            environment: ["PATH": "/\(folder):\(path)", "XDG_RUNTIME_DIR": daemon.directory.path],
            in: daemon.directory, name: UUID().uuidString)
        guard case .exited(let code) = await process.ended() else { return (nil, process.output) }
        return (code, process.output)
    }
}

// MARK: - Manifests
extension TutorialTests {
    /// The output of `swift package dump-package`.
    private struct Dump: Decodable {
        struct Product: Decodable { var name: String }

        struct Target: Decodable {
            struct Arrow: Decodable {
                // Each is an array of a name and further elements.
                var product: [Part?]?
                var byName: [Part?]?
            }

            /// A name; nil for any other element.
            struct Part: Decodable {
                var text: String?

                init(from decoder: any Decoder) throws {
                    text = try? decoder.singleValueContainer().decode(String.self)
                }
            }

            var name: String
            var type: String
            var path: String?
            var dependencies: [Arrow]

            var products: [String] { dependencies.compactMap { $0.product?.first??.text } }
            /// The names of all dependencies, of this package and others.
            var arrows: Set<String> {
                Set(products + dependencies.compactMap { $0.byName?.first??.text })
            }
        }

        var targets: [Target]
        var products: [Product]
    }

    private func dump(_ package: String, in directory: TestDirectory) async throws -> Dump {
        let name = UUID().uuidString
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", package, "--scratch-path",
                directory.path("scratch-\(name)"), "--cache-path", directory.path("cache"),
                "--disable-sandbox", "dump-package",
            ], in: directory, name: name)
        let ending = await process.ended()
        #expect(ending == .exited(0), "\(process.errors)")
        return try JSONDecoder().decode(Dump.self, from: Data(process.output.utf8))
    }
}
