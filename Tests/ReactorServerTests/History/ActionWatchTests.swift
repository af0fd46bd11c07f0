import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The marker of the action in progress, which a daemon leaves for its next run.
@Suite("Action watch")
struct ActionWatchTests {
    private let words = SharedWords(count: ActionWatch.wordCount)
    private let session = Session(secret: Array(1...16), uid: 0, client: 1)

    /// A run of the daemon that crashes while it runs an action.
    private func die(of ordinal: UInt64, by session: Session) {
        let watch = ActionWatch(words)
        watch.begin(session)?.mark(ordinal)
    }

    @Test("R104: a daemon that dies between two actions suspects neither")
    func between() {
        let watch = ActionWatch(words)
        watch.begin(session)?.mark(4)
        watch.end()
        let next = ActionWatch(words)
        #expect(next.death == nil && !next.hasSuspects)
    }

    @Test("R104, P81: an action is poisoned by the second crash that it causes, not the first")
    func twice() {
        die(of: 4, by: session)
        let second = ActionWatch(words)
        #expect(second.death == ActionWatch.Death(ordinal: 4, count: 1))
        #expect(second.suspects(session) && !second.isPoisoned(4, of: session))
        die(of: 4, by: session)
        let third = ActionWatch(words)
        #expect(third.death == ActionWatch.Death(ordinal: 4, count: 2))
        #expect(third.isPoisoned(4, of: session) && !third.isPoisoned(5, of: session))
        let other = Session(secret: Array(2...17), uid: 0, client: 2)
        #expect(!third.isPoisoned(4, of: other) && !third.suspects(other))
    }

    @Test("R104: an action that succeeded after a crash is no longer suspected")
    func acquitted() {
        die(of: 4, by: session)
        var watch = ActionWatch(words)
        watch.acquit(4, of: session)
        #expect(!watch.suspects(session))
        #expect(!ActionWatch(words).hasSuspects)
    }

    @Test("R104: the number of suspected actions is limited to the latest")
    func bounded() {
        for ordinal in 1...UInt64(ActionWatch.suspectsMax + 3) { die(of: ordinal, by: session) }
        var watch = ActionWatch(words)
        for ordinal in 4...UInt64(ActionWatch.suspectsMax + 3) {
            #expect(watch.suspects(session))
            watch.acquit(ordinal, of: session)
        }
        #expect(!watch.hasSuspects)
    }

    @Test("a marker of another format is started again")
    func foreign() {
        for index in 0..<words.count { words[index] = 77 }
        let watch = ActionWatch(words)
        #expect(watch.death == nil && !watch.hasSuspects)
        die(of: 1, by: session)
        #expect(ActionWatch(words).death?.ordinal == 1)
    }
}
