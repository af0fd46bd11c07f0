import ReactorCore
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Computes checksums and encodes large answers of a server on separate threads, and brings the
/// results back to the loop.
///
/// *Place*: beside the shell. The server requests the next of a kind only after the result, so at
/// most one thread of each kind runs. *Owner*: the loop's thread.
struct OffloopWork {
    let loop: LoopHandle
    let meter: LoopMeter

    /// Computes the checksums of states, which may be large.
    func sum(_ probe: StateProbe, for server: Server) {
        let loop = loop
        let server = Confined(server) { loop.isOnLoop }
        _ = try? WorkThread(name: "probe") {
            let (values, byteCount) = probe.sums()
            _ = loop.post { server.open().summed(values, byteCount: byteCount) }
        }
    }

    /// Encodes an answer, which may be large.
    func encode(_ capture: SliceCapture, for server: Server) {
        let loop = loop
        let target = Confined((meter: meter, server: server)) { loop.isOnLoop }
        let work = { @Sendable in
            let clock = ContinuousClock()
            let start = clock.now
            let encoding = capture.encode()
            let nanoseconds = UInt64((clock.now - start) / .nanoseconds(1))
            _ = loop.post {
                let (meter, server) = target.open()
                if let subject = server.encodingSubject {
                    meter.recordAnswer(
                        to: (subject.name, subject.path), of: subject.connection, subject.peer,
                        byteCount: encoding.bytes.count, nanoseconds: nanoseconds)
                }
                server.encoded(encoding)
            }
        }
        // Without a thread, the loop's thread encodes.
        if (try? WorkThread(name: "answers", isInBackground: true, work)) == nil { work() }
    }
}
