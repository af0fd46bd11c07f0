import ReactorCluster
import ReactorJournal
import ReactorLoop

/// Receives a copy of the history from another daemon of the cluster.
///
///     let receiver = try CopyReceiver(copy, of: "house", as: node, silenceMax: .seconds(10))
///     let row = try receiver.receive(at: "/run/reactord-peers/a.sock")
///
/// *Place*: at the other end of a ``CopySender``, in a program that serves no clients. *Owner*: any one
/// thread, which it blocks.
struct CopyReceiver {
    private let copy: ReceivedCopy
    private let cluster: String
    private let node: ClusterNode
    /// How long the sender may be silent; then the copy is given up.
    private let silenceMax: Duration
    private let onProgress: () -> Void

    /// Why no copy arrived from a node.
    struct Obstacle: Error { let reason: String }

    /// Receives for the node `node` of `cluster`; another daemon that is silent for longer than
    /// `silenceMax` is given up. `onProgress` is called with each message, and once a second.
    init(
        _ copy: ReceivedCopy, of cluster: String, as node: ClusterNode, silenceMax: Duration,
        onProgress: @escaping () -> Void = {}
    ) {
        self.onProgress = onProgress
        self.copy = copy
        self.cluster = cluster
        self.node = node
        self.silenceMax = silenceMax
    }

    /// Receives all files from the daemon at the peer socket `path`. Returns the row with which the
    /// copy ends.
    func receive(at path: String) throws(Obstacle) -> UInt64 {
        let result: Result<UInt64, Obstacle>
        do throws(LoopError) {
            result = try run(path)
        } catch {
            throw Obstacle(reason: "\(error)")
        }
        return try result.get()
    }

    private func run(_ path: String) throws(LoopError) -> Result<UInt64, Obstacle> {
        let loop = try EventLoop()
        defer { loop.close() }
        let connection = try PeerConnection(to: path, on: loop)
        let timer = try LoopTimer(on: loop)
        let progress = try LoopTimer(on: loop)
        var result: Result<UInt64, Obstacle>?
        let end = { (outcome: Result<UInt64, Obstacle>) in
            result = result ?? outcome
            loop.stop()
        }
        connection.onMessage = { message in
            timer.start(after: silenceMax)
            onProgress()
            if let outcome = take(message) { end(outcome) }
        }
        connection.onEnd = { end(.failure(Obstacle(reason: $0))) }
        timer.onFire = { end(.failure(Obstacle(reason: "no answer within \(silenceMax)"))) }
        timer.start(after: silenceMax)
        progress.onFire = onProgress
        progress.start(after: .seconds(1), every: .seconds(1))
        connection.begin()
        connection.send(.copy(cluster: cluster, node: node.index))
        loop.run()
        connection.close()
        timer.close()
        progress.close()
        return result ?? .failure(Obstacle(reason: "the loop has ended"))
    }

    /// Takes a message; returns the result after the last one.
    private func take(_ message: PeerMessage) -> Result<UInt64, Obstacle>? {
        do throws(JournalError) {
            switch message {
            case .beat: break
            case .file(let name, let byteCount): try copy.begin(name, byteCount: byteCount)
            case .part(let bytes): try copy.append(bytes)
            case .copied(let row): return .success(row)
            case .refused(let reason): return .failure(Obstacle(reason: reason))
            case .hello, .welcome, .request, .reply, .copy:
                return .failure(Obstacle(reason: "it sent a message out of place"))
            }
            return nil
        } catch {
            return .failure(Obstacle(reason: "\(error)"))
        }
    }
}
