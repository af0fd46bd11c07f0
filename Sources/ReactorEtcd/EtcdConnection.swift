#if Cluster
    import ReactorCluster
    import ReactorLoop
    import SwiftProtobuf

    /// A connection to one etcd member, over the Unix socket at which it accepts clients.
    ///
    /// *Place*: carries the calls of an ``EtcdLog``, which replaces it after a failure. Calls may
    /// overlap; etcd carries them out in any order.
    /// *Owner*: the loop's thread. A handler is called once, never from inside the call that takes
    /// it. After ``close()``, no handler is called.
    final class EtcdConnection {
        /// Maximum bytes of an answer. etcd splits the answers of a watch at 2 MiB, and other
        /// answers have at most one entry and a few reports.
        static let answerBytesMax = 16 << 20

        /// Called with the reason after the connection has ended by itself, and after the handlers
        /// of all calls.
        var onEnd: ((EtcdFailure) -> Void)?

        private let loop: EventLoop
        private let socket: Connection
        private let timer: LoopTimer
        private var session: GRPCSession
        private var calls = EtcdCalls()
        /// The first reason to end the connection.
        private var fault: String?
        /// Why the connection has ended; nil before.
        private var ending: EtcdFailure?

        /// Connects to the member that accepts clients at the socket at `path`.
        ///
        /// *Throws*: if no member listens there.
        init(to path: String, on loop: EventLoop) throws(EtcdFailure) {
            self.loop = loop
            do throws(HTTP2Fault) {
                session = try GRPCSession(answerBytesMax: Self.answerBytesMax)
            } catch {
                throw .outage(.disconnected, reason: error.reason)
            }
            do throws(LoopError) {
                timer = try LoopTimer(on: loop)
                socket = try Connection.connect(to: UnixAddress(path), on: loop)
            } catch {
                throw .outage(.disconnected, reason: "\(error)")
            }
            timer.onFire = { [weak self] in self?.endLateCalls() }
            socket.onBytes = { [weak self] bytes in self?.receive(bytes) }
            socket.onClosed = { [weak self] error in
                self?.end("\(error.map { "\($0)" } ?? "the member closed the connection")")
            }
            socket.resumeReading()
            flush()
        }

        deinit { close() }

        /// Ends the connection and all its calls.
        func close() {
            onEnd = nil
            calls = EtcdCalls()
            socket.onClosed = nil
            socket.close()
            timer.close()
        }

        /// Sends `request`, and calls `handler` with the answer, or with a failure once `time` has
        /// passed.
        func call<Request: Message, Answer: Message>(
            _ call: EtcdCall<Request, Answer>, _ request: Request, within time: Duration,
            _ handler: @escaping (Result<Answer, EtcdFailure>) -> Void
        ) {
            let number = begin(call, request, isOnly: true)
            calls.add(
                EtcdPendingCall(
                    number: number, deadline: loop.now + UInt64(max(0, time / .nanoseconds(1)))
                ) {
                    handler($0.flatMap { Self.decoded($0) })
                })
            planTimer()
        }

        /// Sends `request`, and turns the loop until there is an answer, or until `time` has passed.
        func answer<Request: Message, Answer: Message>(
            to call: EtcdCall<Request, Answer>, _ request: Request, within time: Duration
        ) -> Result<Answer, EtcdFailure> {
            var result: Result<Answer, EtcdFailure>?
            self.call(call, request, within: time) { result = $0 }
            while true {
                if let result { return result }
                if let ending { return .failure(ending) }
                loop.turn(.wait)
            }
        }

        /// Watches keys, and calls `handler` with each answer, in order, and at last with the reason
        /// for the end. Returns the number for ``endWatch(_:)``.
        ///
        /// The bytes of later answers are read when `handler` has returned, so that etcd waits for a
        /// slow owner.
        func watch(
            _ request: EtcdWatchCreateRequest,
            _ handler: @escaping (Result<EtcdWatchResponse, EtcdFailure>) -> Void
        ) -> Int32? {
            let request = EtcdWatchRequest.with { $0.createRequest = request }
            let number = begin(.watch, request, isOnly: false)
            calls.add(
                EtcdPendingCall(number: number, deadline: nil) {
                    handler($0.flatMap { Self.decoded($0) })
                })
            return number
        }

        /// Ends a watch.
        func endWatch(_ number: Int32) {
            guard calls.remove(number) != nil else { return }
            guarded { () throws(HTTP2Fault) in try session.cancel(number) }
            flush()
        }

        /// Begins a call, and returns its number; nil if the connection takes no more calls.
        private func begin<Request: Message, Answer: Message>(
            _ call: EtcdCall<Request, Answer>, _ request: Request, isOnly: Bool
        ) -> Int32? {
            guard session.canCall else {
                abandon("the connection takes no more calls")
                return nil
            }
            do {
                let message: [UInt8] = try request.serializedBytes()
                let number = try session.call(call.path, message, isOnly: isOnly)
                flush()
                return number
            } catch {
                abandon((error as? HTTP2Fault)?.reason ?? "\(error)")
                return nil
            }
        }

        private func receive(_ bytes: Span<UInt8>) {
            var events: [GRPCEvent] = []
            guarded { () throws(HTTP2Fault) in events = try session.receive(bytes) }
            // Windows and answers to PINGs go out before the owner works.
            flush()
            for event in events {
                switch event {
                case .message(let number, let message): calls.take(message, of: number)?()
                case .ended(let number, let status): calls.end(number, status)?()
                }
            }
            planTimer()
        }

        private func flush() {
            guarded { () throws(HTTP2Fault) in
                let output = try session.takeOutput()
                socket.write(output.span)
            }
        }

        private func guarded(_ body: () throws(HTTP2Fault) -> Void) {
            do throws(HTTP2Fault) { try body() } catch { abandon(error.reason) }
        }

        /// Ends the connection soon.
        private func abandon(_ reason: String) {
            fault = fault ?? reason
            socket.close()
        }

        private func end(_ reason: String) {
            let failure = EtcdFailure.outage(.disconnected, reason: fault ?? reason)
            timer.close()
            ending = failure
            for report in calls.failAll(failure) { report() }
            onEnd?(failure)
        }

        private func planTimer() {
            guard let deadline = calls.nextDeadline else { return timer.stop() }
            guard !timer.isStarted else { return }
            let now = loop.now
            timer.start(after: .nanoseconds(Int64(clamping: deadline - min(now, deadline))))
        }

        private func endLateCalls() {
            let now = loop.now
            while let deadline = calls.nextDeadline, deadline <= now {
                calls.failOldest(.outage(.late, reason: "no answer in time"))?()
            }
            planTimer()
        }

        private static func decoded<Answer: Message>(
            _ bytes: [UInt8]
        ) -> Result<Answer, EtcdFailure> {
            do {
                return .success(try Answer(serializedBytes: bytes))
            } catch {
                return .failure(.outage(.disconnected, reason: "the answer is damaged: \(error)"))
            }
        }
    }
#endif
