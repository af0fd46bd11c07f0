import ReactorCore
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

struct MirrorBoardTests {
    @Test("the end of a mirror is noted, and wakes the client, on whatever thread it comes")
    func release() throws {
        let wakes = Notes<Bool>()
        let board = MirrorBoard { wakes.add(true) }
        let mirror = Guarded<ReactorClient.Mirror<StockReactors.Counter>?>(
            ReactorClient.Mirror(
                Replica(StockReactors.Counter()), at: "/visits", on: board, nil, nil))
        #expect(!board.released.isUp)
        let thread = try WorkThread(name: "holder") { mirror.withLock { $0 = nil } }
        thread.join()
        #expect(board.released.isUp && wakes.all.count == 1)
    }

    @Test("all mirrors of a board show one revision")
    func revision() {
        let board = MirrorBoard()
        let mirrors = ["/visits", "/other"].map {
            ReactorClient.Mirror<StockReactors.Counter>(
                Replica(StockReactors.Counter()), at: $0, on: board, nil, nil)
        }
        let revision = Revision(epoch: 7, sequence: 9)
        board.revision.withLock { $0 = revision }
        #expect(mirrors.map(\.revision) == [revision, revision])
        #expect(mirrors.allSatisfy { $0.replica.lock === board.lock })
    }
}
