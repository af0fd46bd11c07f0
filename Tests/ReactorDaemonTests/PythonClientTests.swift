import Foundation
import TestPrograms
import Testing

/// A client written only from the wire format's article: Python's standard library and `cbor2`.
@Suite("A client in another language", .timeLimit(.minutes(10)))
struct PythonClientTests {
    /// The checks of the script; each has its own daemon.
    static let checks = [
        "handshake", "dispatch_and_get", "forms_of_actions", "pipelined_runs", "value_mode",
        "patches", "selections", "composed_value", "replica_mode",
        "own_write_is_shown_before_its_outcome",
        "rejection",
        "decode_errors_leave_the_connection", "any_well_formed_cbor", "tags",
        "values_of_any_shape", "parts", "batch", "conflict", "cancel_ids",
        "refusals",
        "exactly_once_after_a_lost_connection", "resumed_slices", "deferred_outcome",
        "done_follows_the_outcome", "questions", "checksums", "faults_close",
        "offset_of_a_fault", "bytes_one_by_one", "half_close", "goodbye",
    ]

    @Test("W7, W8, W9, W10, W13, W18, W22, W31: the script's check passes", arguments: checks)
    func check(name: String) async throws {
        // Of the daemons of this package, one has a collection that every client may change.
        let daemon =
            name == "selections"
            ? try await DaemonProcess.start("tracker-daemon", config: nil)
            : try await DaemonProcess.start()
        let python = try await Self.python(
            ["check_daemon.py", daemon.socketPath, name], in: daemon.directory)
        #expect(await python.ended() == .exited(0), "\(python.errors)\n\(daemon.log)")
        #expect(python.output == "ok \(name)\n")
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }

    @Test("every check of the script runs, and the script imports nothing of this package")
    func isComplete() async throws {
        let directory = TestDirectory()
        let python = try await Self.python(["check_daemon.py", "--list"], in: directory)
        #expect(await python.ended() == .exited(0), "\(python.errors)")
        #expect(python.output.split(separator: "\n").map(String.init) == Self.checks)
        let allowed: Set = [
            "import io", "import socket", "import struct", "import sys", "import datetime",
            "import cbor2", "from collections import deque", "from reactor_client import *",
        ]
        for script in ["check_daemon.py", "reactor_client.py"] {
            let text = try String(contentsOfFile: Self.folder + script, encoding: .utf8)
            let imports = text.split(separator: "\n").map(String.init).filter {
                $0.hasPrefix("import ") || $0.hasPrefix("from ")
            }
            #expect(Set(imports).subtracting(allowed).isEmpty, "\(script)")
        }
    }

    private static let folder = Bundle.module.bundlePath + "/Python/"

    /// Starts Python with a script of the folder, or of an absolute path; fails with the remedy
    /// if `cbor2` is missing.
    static func python(
        _ arguments: [String], in directory: TestDirectory
    ) async throws -> ChildProcess {
        let own = Built.root + "/.build/python/bin/python3"
        let isSetUp = FileManager.default.isExecutableFile(atPath: own)
        let (interpreter, first) = isSetUp ? (own, []) : ("/usr/bin/env", ["python3"])
        let probe = try ChildProcess(
            interpreter, first + ["-c", "import cbor2"], in: directory, name: "probe")
        try #require(
            await probe.ended() == .exited(0),
            "\(isSetUp ? own : "python3") has no cbor2: run 'Config/setup tests'\n\(probe.errors)")
        let script = arguments[0].hasPrefix("/") ? arguments[0] : folder + arguments[0]
        return try ChildProcess(
            interpreter, first + ["-B", script] + arguments.dropFirst(), in: directory,
            name: "python")
    }
}
