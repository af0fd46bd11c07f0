#if Cluster
    import FoundationEssentials
    import Glibc
    import ReactorCluster
    @testable import ReactorEtcd
    import ReactorLoop
    import ReactorThreads
    import SwiftProtobuf
    import TestPrograms
    import Testing

    /// ``EtcdFoundation`` through real members.
    struct EtcdFoundationTests {
        private static func base(_ first: UInt64) -> ClusterOrigin {
            ClusterOrigin(
                instance: [first, 2, 3], epoch: 4, sequence: 5,
                row: RowPosition(number: 6, chain: 7), time: 8)
        }

        private let own = base(1)
        private let other = base(100)

        @Test("a cluster has no base before it is founded, and then the one that was stored")
        func founded() async throws {
            let node = Founder(try await EtcdProcesses.start(1))
            #expect(try await node.read() == nil)
            #expect(try await node.found(own) == own)
            #expect(try await node.read() == own)
        }

        @Test("a cluster is founded once: a later call gets the first base, and changes nothing")
        func foundedOnce() async throws {
            let node = Founder(try await EtcdProcesses.start(1))
            #expect(try await node.found(own) == own)
            #expect(try await node.found(other) == own)
            #expect(try await node.read() == own)
            // A node whose answer was lost repeats its call.
            #expect(try await node.found(own) == own)
        }

        @Test("clusters of different names in the same members have their own bases")
        func names() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let (first, second) = (Founder(etcd, name: "first"), Founder(etcd, name: "second"))
            #expect(try await first.found(own) == own)
            #expect(try await second.read() == nil)
            #expect(try await second.clusters() == ["first"])
            #expect(try await second.found(other) == other)
            #expect(try await first.read() == own)
            #expect(try await first.clusters() == ["first", "second"])
        }

        @Test("two nodes that found a cluster at the same time agree on one of their bases")
        func race() async throws {
            let etcd = try await EtcdProcesses.start(3)
            for round in 0..<20 {
                let name = "race-\(round)"
                let nodes = (0..<3).map { Founder(etcd, member: $0, name: name) }
                async let first = nodes[0].found(own)
                async let second = nodes[1].found(other)
                let bases = try await [first, second]
                #expect(bases[0] == bases[1] && [own, other].contains(bases[0]))
                #expect(try await nodes[2].read() == bases[0])
            }
        }

        @Test("without a member, each call throws after the deadline, and names the socket")
        func noMember() async throws {
            let deadline = Duration.milliseconds(300)
            let node = Founder(try EtcdProcesses.prepare(1), deadline: deadline)
            let own = own
            for call in [{ _ = try await node.read() }, { _ = try await node.found(own) }] {
                let begin = ContinuousClock.now
                let error = await #expect(throws: EtcdFoundationError.self) { try await call() }
                // libuv counts whole milliseconds.
                #expect(ContinuousClock.now - begin >= deadline - .milliseconds(2))
                guard case .silent(node.socket, deadline, _)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                let text = "etcd at \(node.socket): no answer within 0.3 seconds ("
                #expect(error?.description.hasPrefix(text) == true)
                #expect(error?.description.contains("); start the etcd member of") == true)
            }
        }

        @Test("a call waits for a member that starts later")
        func lateMember() async throws {
            let etcd = try EtcdProcesses.prepare(1)
            let node = Founder(etcd)
            // The member does not run yet, as this call shows.
            await #expect(throws: EtcdFoundationError.self) {
                try await Founder(etcd, deadline: .milliseconds(100)).read()
            }
            async let base = node.found(own)
            try etcd.start(0)
            try await etcd.accept(0)
            #expect(try await base == own)
        }

        @Test("a call waits for most members, and its base is stored once although it was repeated")
        func noQuorum() async throws {
            let etcd = try await EtcdProcesses.start(3)
            let node = Founder(etcd)
            #expect(try await node.read() == nil)
            for member in 1...2 { etcd.signal(SIGSTOP, to: member) }
            // Longer than a call, so that the call is made again.
            let hasty = Founder(etcd, deadline: .seconds(3))
            let error = await #expect(throws: EtcdFoundationError.self) {
                try await hasty.found(own)
            }
            guard case .undecided(node.socket, .seconds(3), _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("); check that a majority of the") == true)
            async let base = node.found(own)
            for member in 1...2 { etcd.signal(SIGCONT, to: member) }
            #expect(try await base == own)
            #expect(try await Founder(etcd, member: 1).found(other) == own)
        }

        @Test("a base that another program wrote is refused with its field, and is not replaced")
        func foreignBase() async throws {
            let etcd = try await EtcdProcesses.start(1)
            let node = Founder(etcd)
            let loop = try EventLoop()
            let connection = try EtcdConnection(to: node.socket, on: loop)
            let put = EtcdTxnRequest.with {
                $0.success = [
                    .with {
                        $0.requestPut.key = .init("/reactord/test/base".utf8)
                        $0.requestPut.value = .init([9])
                    }
                ]
            }
            let answer = try connection.answer(
                to: .transaction, put, within: .seconds(60)
            ).get()
            #expect(answer.succeeded)
            let damage = RecordError.invalid(
                record: "cluster base", at: 0, field: "format", got: 9)
            let error = EtcdFoundationError.unusable(socket: node.socket, reason: "\(damage)")
            await #expect(throws: error) { try await node.read() }
            await #expect(throws: error) { try await node.found(own) }
            #expect(error.description.hasPrefix("etcd at \(node.socket): cluster base at byte 0"))
        }
    }

    /// A node that reads or founds a cluster through a member, which runs as long as the node
    /// exists.
    private struct Founder: Sendable {
        let socket: String
        private let etcd: EtcdProcesses
        private let foundation: EtcdFoundation

        init(
            _ etcd: EtcdProcesses, member: Int = 0, name: String = "test",
            deadline: Duration = .seconds(120)
        ) {
            self.etcd = etcd
            socket = etcd.socket(member)
            foundation = EtcdFoundation(
                socket: socket, keys: ClusterKeys(name: name), deadline: deadline)
        }

        func read() async throws -> ClusterOrigin? {
            try await onThread { foundation throws(EtcdFoundationError) in try foundation.read() }
        }

        func clusters() async throws -> [String] {
            try await onThread { foundation throws(EtcdFoundationError) in
                try foundation.clusters()
            }
        }

        func found(_ base: ClusterOrigin) async throws -> ClusterOrigin {
            try await onThread { foundation throws(EtcdFoundationError) in
                try foundation.found(base)
            }
        }

        /// Makes a call on a thread of its own: it blocks, and the threads of tasks must not.
        private func onThread<Value: Sendable>(
            _ call: @escaping @Sendable (EtcdFoundation) throws(EtcdFoundationError) -> Value
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                do {
                    _ = try WorkThread(name: "founder") { [etcd, foundation] in
                        withExtendedLifetime(etcd) {
                            continuation.resume(with: Result { try call(foundation) })
                        }
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
#endif
