import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Reads from the journal the frames that reconnecting clients missed, on its own thread, one
/// query after another; users take turns.
///
/// *Owner*: the loop's thread, which also runs `onAnswer`.
final class MissedReader {
    private enum Order: Sendable {
        case question(HistoryQuestion)
        case stop
    }

    private let mailbox: Mailbox<Order>
    private let onAnswer: (_ number: UInt64, _ frames: [UInt8]?) -> Void
    private var thread: WorkThread?

    /// Calls `onAnswer` with the number of each query and its frames, or nil if the journal lacks
    /// some of them.
    init(
        _ directory: DataDirectory, on loop: LoopHandle,
        onAnswer: @escaping (_ number: UInt64, _ frames: [UInt8]?) -> Void
    ) {
        let bell = Bell()
        mailbox = Mailbox { bell.ring() }
        self.onAnswer = onAnswer
        let work = Work(
            directory: directory, loop: loop, mailbox: mailbox, bell: bell,
            onAnswer: Confined(onAnswer) { loop.isOnLoop })
        thread = try? WorkThread(name: "history") { work.run() }
    }

    deinit { close() }

    func ask(_ question: HistoryQuestion) {
        // Without a thread, clients get the complete values instead.
        if thread == nil { return onAnswer(question.number, nil) }
        mailbox.post(.question(question))
    }

    /// Ends the thread.
    func close() {
        guard let thread else { return }
        mailbox.post(.stop)
        thread.join()
        self.thread = nil
    }

    /// The thread's work.
    private struct Work: Sendable {
        let directory: DataDirectory
        let loop: LoopHandle
        let mailbox: Mailbox<Order>
        let bell: Bell
        let onAnswer: Confined<(_ number: UInt64, _ frames: [UInt8]?) -> Void>

        func run() {
            var queue = RoundRobin<UInt32, HistoryQuestion>()
            while true {
                if queue.isEmpty { bell.wait() }
                for order in mailbox.drain() {
                    switch order {
                    case .stop: return
                    case .question(let question): queue.append(question, of: question.uid)
                    }
                }
                if let (_, question) = queue.popFirst() { answer(question) }
            }
        }

        private func answer(_ question: HistoryQuestion) {
            let (number, frames) = (question.number, frames(of: question))
            _ = loop.post { [onAnswer] in onAnswer.open()(number, frames) }
        }

        // Returns nil on any error: the client then gets the complete values.
        private func frames(of question: HistoryQuestion) -> [UInt8]? {
            guard
                let reader = try? JournalReader(
                    directory, ofEpoch: question.epoch, after: question.after),
                reader.position.epoch == question.epoch,
                reader.position.sequence <= question.after
            else { return nil }
            var frames: [UInt8] = []
            while reader.position.sequence < question.upTo {
                guard let row = try? reader.next(), row.epoch == question.epoch,
                    question.collect(from: row.deltas, into: &frames)
                else { return nil }
            }
            return frames
        }
    }
}
