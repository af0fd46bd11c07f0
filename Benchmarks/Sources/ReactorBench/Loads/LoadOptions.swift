import ArgumentParser
import Foundation
import Glibc
import ReactorClient
import ReactorLoop

/// What every load is told: where to go, and for how long.
struct LoadOptions: ParsableArguments {
    @Option(help: "The socket of the server.")
    var socket: String

    @Option(help: "For how long to measure, in seconds.")
    var seconds = 1.0

    // because that is what the daemon does unless it is told otherwise
    @Option(help: "For how long a client polls after traffic, in microseconds.")
    var spin = 50

    /// Nanoseconds to measure for, after a tenth of that to get warm.
    var nanoseconds: UInt64 { UInt64(seconds * 1e9) }

    var spinDuration: Duration { .microseconds(spin) }

    var clientOptions: ClientOptions {
        ClientOptions(program: "reactor-bench", spin: spinDuration)
    }
}

/// Why a load cannot go on.
struct LoadError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Writes results for the process that started this one: a line `name number` each.
func tell(_ results: [(String, Double)]) {
    let text = results.map { "\($0.0) \($0.1)\n" }.joined()
    FileHandle.standardOutput.write(Data(text.utf8))
}
