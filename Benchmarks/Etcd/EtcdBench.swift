import ArgumentParser

#if Cluster
    import Foundation
    import ReactorCluster
    import ReactorEtcd
    import ReactorLoop

    /// Measures the round trip of an append through `EtcdLog`, beside a bare transaction of the
    /// same members in the same rounds.
    @main
    struct EtcdBench: ParsableCommand {
        @Option(help: "Members of etcd.") var members = 3
        @Option(help: "Appends of each side in a round.") var count = 500
        @Option(help: "Rounds.") var rounds = 5
        @Option(help: "Bytes of an entry, at most 8,000.") var bytes = 200
        @Option(help: "The socket of a running member, instead of starting members.")
        var socket: String?

        func validate() throws {
            guard members > 0, count > 0, rounds > 0, 0...8_000 ~= bytes else {
                throw ValidationError("expected numbers above 0, and at most 8,000 bytes")
            }
        }

        func run() throws {
            let etcd = socket == nil ? try EtcdMembers(members) : nil
            defer { etcd?.stop() }
            let path = socket ?? etcd?.socket(0) ?? ""
            let loop = try EventLoop()
            // A running member has the logs of earlier runs.
            let run = UInt64.random(in: .min ... .max)
            let ours = try LogClient(path, "ours-\(run)", loop)
            let bareTerm = try LogClient(path, "bare-\(run)", loop).lead()
            let term = ours.lead()
            let bare = BareEtcd(to: path, cluster: "bare-\(run)")
            let entry = [UInt8](repeating: 7, count: bytes)
            var times: (ours: [Duration], bare: [Duration]) = ([], [])
            for round in 0..<rounds + 1 {
                for index in 0..<count {
                    let expected = UInt64(round * count + index)
                    let begin = ContinuousClock.now
                    precondition(bare.append(entry, expected: expected, term: bareTerm))
                    if round > 0 { times.bare.append(ContinuousClock.now - begin) }
                }
                let appended = ours.append(
                    entry, count: count, after: UInt64(round * count), term: term)
                // The first round warms etcd up, and does not count.
                if round > 0 { times.ours += appended }
            }
            times = (times.ours.sorted(), times.bare.sorted())
            let place = socket.map { "at \($0)" } ?? "\(members) members"
            report("etcd \(ours.version), \(place), \(bytes) bytes")
            for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
                let our = times.ours[Int(Double(times.ours.count) * part)]
                let its = times.bare[Int(Double(times.bare.count) * part)]
                let (text, other) = (Self.text(our), Self.text(its))
                let ratio = String(format: "%.2f", our / its)
                report("| append \(name) | \(text) | \(other) | bare transaction | \(ratio) |")
            }
        }

        private static func text(_ time: Duration) -> String {
            String(format: "%.0f µs", time / .microseconds(1))
        }

        private func report(_ line: String) {
            try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    /// A log whose owner is the loop of the benchmark.
    private final class LogClient {
        private let log: EtcdLog
        private let loop: EventLoop
        private var event: EngineEvent?

        init(_ path: String, _ cluster: String, _ loop: EventLoop) throws {
            self.loop = loop
            log = try EtcdLog(socket: path, keys: ClusterKeys(name: cluster), on: loop)
            log.onEvent = { [unowned self] event in self.event = event }
            log.open()
            while event != .up { turn() }
        }

        var version: String { log.member?.version ?? "" }

        /// Becomes leader, and returns the term.
        func lead() -> UInt64 {
            var event = EngineEvent.up
            while true {
                event = answer(.look)
                guard case .sighting(let seen) = event else { continue }
                let claim = LeaderClaim(node: ClusterNode(1), incarnation: 1, attempt: 1)
                event = answer(.takeOver(seen: seen, record: .held(claim)))
                if case .won(let term, _) = event { return term }
            }
        }

        /// Appends `count` entries one after the other, and returns the time of each.
        func append(
            _ entry: [UInt8], count: Int, after number: UInt64, term: UInt64
        ) -> [Duration] {
            (0..<count).map { index in
                let begin = ContinuousClock.now
                let event = answer(
                    .append(entry: entry, expected: number + UInt64(index), term: term))
                guard case .appended = event else { preconditionFailure("\(event)") }
                return ContinuousClock.now - begin
            }
        }

        private func answer(_ call: EngineCall) -> EngineEvent {
            event = nil
            log.send(call)
            while true {
                if let event { return event }
                turn()
            }
        }

        private func turn() { loop.turn(.wait) }
    }

    /// Members of etcd in a temporary directory, over Unix sockets.
    private final class EtcdMembers {
        private let directory: URL
        private var processes: [Process] = []

        init(_ count: Int) throws {
            directory = FileManager.default.temporaryDirectory
                .appending(path: "etcd-bench-\(ProcessInfo.processInfo.processIdentifier)")
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
            let cluster = (0..<count).map { "\($0)=unix://peer-\($0):1" }.joined(separator: ",")
            for member in 0..<count {
                let process = Process()
                process.executableURL = URL(filePath: "/usr/bin/etcd")
                process.currentDirectoryURL = directory
                process.arguments = [
                    "--name=\(member)", "--data-dir=data-\(member)", "--log-level=error",
                    "--listen-client-urls=unix://client-\(member):1",
                    "--advertise-client-urls=unix://client-\(member):1",
                    "--listen-peer-urls=unix://peer-\(member):1",
                    "--initial-advertise-peer-urls=unix://peer-\(member):1",
                    "--initial-cluster=\(cluster)", "--heartbeat-interval=50",
                    "--election-timeout=500",
                ]
                process.standardError = FileHandle.nullDevice
                try process.run()
                processes.append(process)
            }
        }

        func socket(_ member: Int) -> String {
            directory.appending(path: "client-\(member):1").path()
        }

        func stop() {
            for process in processes {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            try? FileManager.default.removeItem(at: directory)
        }
    }
#else
    /// The command in a build without the trait: it names the command that builds the benchmark.
    @main
    struct EtcdBench: ParsableCommand {
        func run() throws {
            throw ValidationError("built without the trait Cluster; run Benchmarks/etcd-append")
        }
    }
#endif
