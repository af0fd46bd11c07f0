#if Cluster
    import FoundationEssentials
    import Glibc
    import ReactorCluster
    @testable import ReactorEtcd
    import ReactorLoop
    import SwiftProtobuf
    import TestPrograms
    import Testing

    /// ``EtcdLog`` while etcd and its connections fail.
    struct EtcdLogTests {
        @Test("without etcd, the tests are refused and name it")
        func missing() {
            let failure = #expect(throws: EtcdProcesses.Failure.self) {
                try EtcdProcesses.prepare(1, program: "/nowhere/etcd")
            }
            #expect(failure?.description.contains("/nowhere/etcd: install it") == true)
        }

        /// What a connection that ends reports, with `unknown` for the only call.
        private func expectEnd(
            _ probe: LogProbe, _ kind: EngineCallKind, _ outage: EngineOutage
        ) async throws {
            #expect(await probe.next() == .unknown(kind, outage))
            #expect(try await probe.end().contains("\(kind)"))
        }

        @Test("an append whose answer is lost is unknown, and a repetition finds it stored once")
        func lostAnswer() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let proxy = try CuttingProxy(at: etcd.directory.path("proxy"), to: etcd.socket(0))
            let world = EtcdWorld(etcd)
            let probe = try await world.connect(at: proxy.path)
            let watcher = try await world.connect(to: 0)
            let term = try await probe.lead(as: 1)
            watcher.send(.watch(after: .beginning))
            for number in 0..<20 as Range<UInt64> {
                let append = EngineCall.append(
                    entry: [UInt8(number)], expected: number, term: term)
                proxy.swallowAnswers()
                probe.send(append)
                #expect(await watcher.entries(1).first?.position.number == number + 1)
                proxy.cut()
                try await expectEnd(probe, .append, .disconnected)
                #expect(await probe.next() == .up)
                guard case .refused(.append, let refusal)? = await probe.answer(to: append) else {
                    Issue.record("the append was stored twice, or lost")
                    return
                }
                #expect(refusal.last?.position.number == number + 1)
                #expect(refusal.last?.bytes == [UInt8(number)] && refusal.term == term)
            }
            #expect(probe.events.isEmpty)
        }

        @Test("a stopped member's call ends at the deadline, and the log connects again later")
        func stoppedMember() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let world = EtcdWorld(etcd)
            let term = try await world.connect(to: 0).lead(as: 1)
            let probe = try await world.connect(at: etcd.socket(0), deadline: .milliseconds(300))
            etcd.signal(SIGSTOP, to: 0)
            probe.send(.beat(term: term))
            try await expectEnd(probe, .beat, .late)
            etcd.signal(SIGCONT, to: 0)
            #expect(await probe.next() == .up)
        }

        @Test("all calls without an answer are unknown before the connection's end, each once")
        func severalUnanswered() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let probe = try await EtcdWorld(etcd).connect(to: 0)
            let term = try await probe.lead(as: 1)
            probe.send(.watch(after: .beginning))
            #expect(await probe.next() == .leader(term: term, record(1)))
            etcd.signal(SIGSTOP, to: 0)
            let calls = [
                EngineCall.look, .append(entry: [1], expected: 0, term: term), .beat(term: term),
                .announce(NodeReport(node: ClusterNode(1))), .compact(upTo: .beginning),
            ]
            for call in calls { probe.send(call) }
            await etcd.kill(0)
            var unknown: Set<EngineCallKind> = []
            while case .unknown(let kind, .disconnected)? = await probe.next() {
                #expect(unknown.insert(kind).inserted)
                if unknown.count == calls.count { break }
            }
            #expect(unknown == Set(calls.map(\.kind)))
            try await probe.end()
            try etcd.start(0)
            try await etcd.accept(0)
            #expect(await probe.next() == .up)
            #expect(probe.events.isEmpty)
        }

        @Test("every acknowledged append survives the repeated kill of all members")
        func killedMembers() async throws {
            let etcd = try await EtcdProcesses.start(3)
            let probe = try await EtcdWorld(etcd).connect(to: 0)
            let term = try await probe.lead(as: 1)
            var stored: [StoredEntry] = []
            for round in 0..<4 as Range<UInt8> {
                for index in 0..<40 as Range<UInt8> {
                    // The members may elect again shortly after their start.
                    let answer = await probe.settledAnswer(
                        to: .append(
                            entry: [round, index], expected: UInt64(stored.count), term: term))
                    let position: LogPosition? =
                        switch answer {
                        case .appended(let position)?: position
                        case .refused(.append, let refusal)?: refusal.last?.position
                        default: nil
                        }
                    guard let position else { throw probe.unexpected(answer) }
                    stored.append(StoredEntry(position: position, bytes: [round, index]))
                }
                for member in 0..<3 { await etcd.kill(member) }
                for member in 0..<3 { try etcd.start(member) }
                for member in 0..<3 { try await etcd.accept(member) }
                // etcd does not answer until its members have elected a leader.
                let answer = await probe.settledAnswer(to: .look)
                guard case .sighting(let seen)? = answer else { throw probe.unexpected(answer) }
                #expect(seen.head == stored.last?.position && seen.term == term)
            }
            probe.send(.watch(after: .beginning))
            #expect(await probe.entries(stored.count) == stored)
        }

        @Test("while most members are stopped, an append is unknown; it is stored at most once")
        func noQuorum() async throws {
            let etcd = try await EtcdProcesses.start(3)
            let world = EtcdWorld(etcd)
            let term = try await world.connect(to: 0).lead(as: 1)
            let probe = try await world.connect(at: etcd.socket(0), deadline: .seconds(2))
            for member in 1...2 { etcd.signal(SIGSTOP, to: member) }
            let append = EngineCall.append(entry: [1], expected: 0, term: term)
            #expect(await probe.answer(to: append) == .unknown(.append, .late))
            for member in 1...2 { etcd.signal(SIGCONT, to: member) }
            #expect(await probe.next { $0 == .up } != nil)
            let other = try await world.connect(to: 1)
            let answer = await other.settledAnswer(to: append)
            let head = try await other.look().head
            #expect(head.number == 1)
            switch answer {
            case .appended(head)?: break
            case .refused(.append, let refusal)?:
                #expect(refusal.last == StoredEntry(position: head, bytes: [1]))
            default: throw other.unexpected(answer)
            }
        }

        @Test("a value that another program wrote is reported, and its call is unknown")
        func foreignValues() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let probe = try await EtcdWorld(etcd).connect(to: 0)
            let loop = try EventLoop()
            let connection = try EtcdConnection(to: etcd.socket(0), on: loop)
            let put = EtcdTxnRequest.with {
                $0.success = [
                    .with {
                        $0.requestPut.key = .init("/reactord/test/leader".utf8)
                        $0.requestPut.value = .init([9])
                    }
                ]
            }
            probe.send(.watch(after: .beginning))
            let answer = try connection.answer(
                to: .transaction, put, within: .seconds(60)
            ).get()
            let damage = RecordError.invalid(
                record: "leader record", at: 0, field: "format", got: 9)
            #expect(answer.succeeded)
            #expect(await probe.next() == .damaged(damage))
            #expect(await probe.next() == .watchEnded("\(damage)"))
            probe.send(.look)
            #expect(await probe.next() == .damaged(damage))
            #expect(await probe.next() == .unknown(.look, .error("\(damage)")))
        }

        @Test("an append is unknown while etcd's file is full, and the connection stays open")
        func fullFile() async throws {
            let etcd = try await EtcdProcesses.start(
                1, arguments: ["--quota-backend-bytes=262144"])
            let probe = try await EtcdWorld(etcd).connect(to: 0)
            let term = try await probe.lead(as: 1)
            let entry = Array(repeating: UInt8(7), count: EngineLimits.entryBytesMax)
            var count: UInt64 = 0
            var answer: EngineEvent?
            repeat {
                answer = await probe.answer(to: .append(entry: entry, expected: count, term: term))
                if case .appended? = answer { count += 1 }
            } while count < 100 && answer != .unknown(.append, .full)
            #expect(answer == .unknown(.append, .full))
            // etcd answers with this error, too, when it has just applied the transaction.
            #expect([count, count + 1].contains(try await probe.look().head.number))
            #expect(probe.events.isEmpty)
        }

        @Test(
            "a closed log reports its calls as unknown and nothing else, until it is opened again")
        func close() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let (log, probe) = try EtcdWorld(etcd).open(etcd.socket(0), deadline: .seconds(60))
            #expect(await probe.next() == .up)
            #expect(log.member?.version.hasPrefix("3.") == true)
            #expect(log.member?.leader == log.member?.id)
            probe.send(.look)
            log.close()
            #expect(await probe.next() == .unknown(.look, .disconnected))
            try await probe.end()
            log.open()
            #expect(await probe.next() == .up)
            #expect(try await probe.look().head == .beginning)
        }

        @Test("a log without a handler closes with calls under way")
        func closeUnheard() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let (log, probe) = try EtcdWorld(etcd).open(etcd.socket(0), deadline: .seconds(60))
            #expect(await probe.next() == .up)
            probe.send(.look)
            log.onEvent = nil
            log.close()
            #expect(await probe.holds { probe.events.isEmpty })
        }

        @Test("calls made while the connection ends are unknown too, and the end comes last")
        func callsAtEnd() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let (log, probe) = try EtcdWorld(etcd).open(etcd.socket(0), deadline: .seconds(60))
            #expect(await probe.next() == .up)
            _ = try await probe.look()
            var later: [[EngineCall]] = [[.look, .watch(after: .beginning)], [.beat(term: 1)]]
            probe.onEvent = { event in
                guard case .unknown = event, !later.isEmpty else { return }
                for call in later.removeFirst() { log.send(call) }
            }
            probe.send(.look)
            log.close()
            for kind in [EngineCallKind.look, .look, .beat] {
                #expect(await probe.next() == .unknown(kind, .disconnected))
            }
            try await probe.end()
            #expect(later.isEmpty && probe.events.isEmpty)
            log.open()
            #expect(await probe.next() == .up)
            _ = try await probe.look()
            #expect(probe.events.isEmpty)
        }

        @Test("an owner that closes the log when its connection ends is not connected again")
        func closeAtEnd() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let proxy = try CuttingProxy(at: etcd.directory.path("proxy"), to: etcd.socket(0))
            let world = EtcdWorld(etcd)
            let (log, probe) = try world.open(proxy.path, deadline: .seconds(60))
            #expect(await probe.next() == .up)
            _ = try await probe.look()
            let other = try await world.connect(to: 0)
            proxy.swallowAnswers()
            probe.send(.announce(NodeReport(node: ClusterNode(1))))
            while try await other.look().nodes.isEmpty {}
            probe.onEvent = { event in if case .unknown = event { log.close() } }
            proxy.cut()
            #expect(await probe.next() == .unknown(.announce, .disconnected))
            try await probe.end()
            // By the time another log has connected, this one would have.
            for _ in 0..<3 { _ = try await world.connect(at: proxy.path).look() }
            #expect(await probe.holds { probe.events.isEmpty })
            probe.onEvent = nil
            log.open()
            #expect(await probe.next() == .up)
            _ = try await probe.look()
        }

        @Test("a log waits for a member that starts later, and reports that once")
        func lateMember() async throws {
            let etcd = try EtcdProcesses.prepare(1)
            let (log, probe) = try EtcdWorld(etcd).open(etcd.socket(0), deadline: .seconds(60))
            var obstacles: [String] = []
            log.onObstacle = { obstacles.append($0) }
            #expect(await probe.holds { !obstacles.isEmpty })
            try etcd.start(0)
            try await etcd.accept(0)
            #expect(await probe.next() == .up)
            #expect(obstacles.count == 1 && obstacles[0].contains(etcd.socket(0)))
            #expect(log.member != nil)
        }
    }
#endif
