import ReactorCore
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

struct SharedStateTests {
    @Test("the end of a mirror is recorded, and wakes the client, on any thread")
    func release() throws {
        let wakes = Notes<Bool>()
        let shared = SharedState { wakes.add(true) }
        let mirror = Guarded<ReactorClient.Mirror<StockReactors.Counter>?>(
            ReactorClient.Mirror(
                Replica(StockReactors.Counter()), at: "/visits", on: shared, nil, nil))
        #expect(!shared.released.isUp)
        let thread = try WorkThread(name: "holder") { mirror.withLock { $0 = nil } }
        thread.join()
        #expect(shared.released.isUp && wakes.all.count == 1)
    }

    @Test("all mirrors of a client show one revision")
    func revision() {
        let shared = SharedState()
        let mirrors = ["/visits", "/other"].map {
            ReactorClient.Mirror<StockReactors.Counter>(
                Replica(StockReactors.Counter()), at: $0, on: shared, nil, nil)
        }
        let revision = Revision(epoch: 7, sequence: 9)
        shared.revision.withLock { $0 = revision }
        #expect(mirrors.map(\.revision) == [revision, revision])
        #expect(mirrors.allSatisfy { $0.replica.lock === shared.lock })
    }
}
