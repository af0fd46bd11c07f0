import ReactorCore
import Testing

@testable import ReactorClient

/// The leases of a client, tested alone: no connection, no daemon.
struct LeasesTests {
    private let applied = ActionOutcome.applied(Revision(epoch: 7, sequence: 1), reply: nil)

    /// The orders as text; `ask` is executed.
    private static func steps(_ orders: [Leases.Order]?) -> [String] {
        (orders ?? []).map { order in
            switch order {
            case .ask(let lease):
                _ = lease.request()
                return "ask"
            case .giveBack: return "give back"
            case .call(_, .success): return "held"
            case .call(_, .failure(let error)): return "\(error)"
            case .unfollow: return "unfollow"
            case .follow: return "follow"
            }
        }
    }

    private static func lease(_ orders: [Leases.Order]?) throws -> HeldLease {
        guard case .ask(let lease) = orders?.first else { throw ClientError.ended }
        return lease
    }

    private static let path = try? SlicePath("/rooms/a")

    @Test("two claims share a lease, which is given back with the last claim")
    func share() throws {
        var leases = Leases()
        let first = leases.claim(Self.path, definesLifecycle: true) { _ in }
        let lease = try Self.lease(first.orders)
        #expect(Self.steps(first.orders) == ["ask"] && leases.isUnleased("/rooms/a/x") == true)
        let second = leases.claim(Self.path, definesLifecycle: false) { _ in }
        #expect(Self.steps(second.orders) == [])
        #expect(
            Self.steps(leases.receive(applied, of: lease, after: nil))
                == ["follow", "held", "held"])
        #expect(leases.isUnleased("/rooms/a") == false)
        #expect(Self.steps(leases.release(first.claim)) == [])
        #expect(Self.steps(leases.release(second.claim)) == ["give back"])
        #expect(leases.isEmpty == true)
    }

    @Test("a claim released on the way is cancelled, and the lease is given back when granted")
    func giveUp() throws {
        var leases = Leases()
        let first = leases.claim(Self.path, definesLifecycle: true) { _ in }
        let lease = try Self.lease(first.orders)
        #expect(Self.steps(first.orders) == ["ask"])
        #expect(Self.steps(leases.release(first.claim)) == ["\(ClientError.cancelled)"])
        #expect(
            Self.steps(leases.receive(applied, of: lease, after: nil)) == ["follow", "give back"])
        #expect(leases.isEmpty == true)
    }

    @Test("a claim that needs more than was requested causes another request")
    func more() throws {
        var leases = Leases()
        let first = leases.claim(Self.path, definesLifecycle: false) { _ in }
        let lease = try Self.lease(first.orders)
        _ = Self.steps(first.orders)
        _ = leases.claim(Self.path, definesLifecycle: true) { _ in }
        #expect(Self.steps(leases.receive(applied, of: lease, after: nil)) == ["ask"])
        #expect(
            Self.steps(leases.receive(applied, of: lease, after: nil))
                == ["follow", "held", "held"])
    }

    @Test("a held lease is lost with its connection and renewed; a doubtful one is forgotten")
    func connections() throws {
        var leases = Leases()
        for path in ["/rooms/a", "/rooms/b"] {
            let claim = leases.claim(try SlicePath(path), definesLifecycle: true) { _ in }
            let lease = try Self.lease(claim.orders)
            _ = lease.request()
            _ = leases.receive(applied, of: lease, after: nil)
        }
        leases.doubt(from: "/rooms/b")
        leases.loseConnection()
        #expect(leases.covers("/rooms/b") == false && leases.isUnleased("/rooms/a") == true)
        #expect(Self.steps(leases.renew()) == ["ask"])
        #expect(Self.steps(leases.renew()) == [])
    }

    @Test("a refused lease ends its claims and their subscriptions")
    func refused() throws {
        var leases = Leases()
        let first = leases.claim(Self.path, definesLifecycle: true) { _ in }
        let lease = try Self.lease(first.orders)
        _ = lease.request()
        let rejection = Rejection("full", "no room")
        let error = ClientError.leaseRefused(path: "/rooms/a", rejection)
        #expect(
            Self.steps(leases.receive(.rejected(rejection), of: lease, after: nil))
                == ["\(error)", "unfollow", "follow"])
        #expect(Self.steps(leases.release(first.claim)) == [])
    }

    @Test("a lease with an unknown outcome is requested again while there is a claim and a client")
    func unknown() throws {
        var leases = Leases()
        let first = leases.claim(Self.path, definesLifecycle: true) { _ in }
        let lease = try Self.lease(first.orders)
        _ = lease.request()
        let unknown = ActionOutcome.unknown(.sessionExpired)
        #expect(Self.steps(leases.receive(unknown, of: lease, after: nil)) == ["ask"])
        #expect(
            Self.steps(leases.receive(unknown, of: lease, after: .ended))
                == ["\(ClientError.ended)", "unfollow", "follow"])
    }

    @Test("the root, and a text that is no path, have no lease")
    func noChild() {
        var leases = Leases()
        #expect(leases.claim(nil, definesLifecycle: true) { _ in }.orders?.count == nil)
        #expect(leases.claim(.root, definesLifecycle: true) { _ in }.orders?.count == nil)
        #expect(leases.isEmpty == true)
    }
}
