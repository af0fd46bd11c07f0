import ArgumentParser
import Foundation
import Glibc
import ReactorClient
import ReactorLoop

/// The common options of all loads: the server's socket and the duration.
struct LoadOptions: ParsableArguments {
    @Option(help: "The socket of the server.")
    var socket: String

    @Option(help: "For how long to measure, in seconds.")
    var seconds = 1.0

    // The daemon's default.
    @Option(help: "For how long a client polls after traffic, in microseconds.")
    var spin = 50

    /// Nanoseconds to measure, after a tenth of that for warming up.
    var nanoseconds: UInt64 { UInt64(seconds * 1e9) }

    var spinDuration: Duration { .microseconds(spin) }

    var clientOptions: ClientOptions {
        ClientOptions(program: "reactor-bench", spin: spinDuration)
    }
}

/// The reason why a load failed.
struct LoadError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Writes results for the parent process: a line `name number` each.
func report(_ results: [(String, Double)]) {
    let text = results.map { "\($0.0) \($0.1)\n" }.joined()
    FileHandle.standardOutput.write(Data(text.utf8))
}
