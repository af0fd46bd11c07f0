import ReactorCore
import Testing

@testable import ReactorClient

@WireCodable
private struct AddItem: Equatable, Sendable { var name: String }

@WireCodable
private struct LogIn: Equatable, Sendable { var user: String }

@WireCodable
private struct Shout: Equatable, Sendable { var text: String }

@WireCodable
struct Cart: Equatable, Sendable {
    var user = ""
    var items: [String] = []
}

private let cartReducer: Reducer<Cart> = Reducers.combine(
    (\.user, Reducers.on(LogIn.self) { user, action in user = action.user }),
    (\.items, Reducers.on(AddItem.self) { items, action in items.append(action.name) }))

@Suite("Actions of any type", .timeLimit(.minutes(10)))
struct MirrorActionsTests {
    private func root(
        _ middleware: [Middleware<RootReactor<Cart>>] = []
    ) -> RootReactor<Cart> {
        RootReactor(Cart(), middleware: middleware, reducer: cartReducer)
    }

    private func client(
        of server: LiveServer
    ) async throws -> (client: Client, cart: Mirror<RootReactor<Cart>>) {
        let client = try await Client.connect(to: server.path, options: .brisk)
        return (client, try await client.mirror(root(), at: "/"))
    }

    @Test("F20: a root reactor in a daemon takes actions of any type, and its mirrors reduce them")
    func rootReactor() async throws {
        let gift = Middleware<RootReactor<Cart>>.on(LogIn.self) { _, logIn, dispatch in
            dispatch(ErasedAction(AddItem(name: "gift for \(logIn.user)")))
        }
        let server = try LiveServer(root([gift]))
        let (client, cart) = try await client(of: server)
        let (other, shown) = try await self.client(of: server)
        #expect(await cart.dispatch(AddItem(name: "milk")).revision?.sequence == 1)
        #expect(cart.items == ["milk"])
        #expect(await cart.dispatch(LogIn(user: "ada")).revision?.sequence == 2)
        #expect(cart.user == "ada")
        for await items in shown.states(\.items) where items.count == 2 {
            #expect(items == ["milk", "gift for ada"])
            break
        }
        #expect(shown.state == Cart(user: "ada", items: ["milk", "gift for ada"]))
        client.close()
        other.close()
    }

    @Test("F20: an action that no reducer knows is applied without a change, on both sides")
    func unknown() async throws {
        let server = try LiveServer(root())
        let (client, cart) = try await client(of: server)
        #expect(await cart.dispatch(Shout(text: "hey")).revision?.sequence == 1)
        #expect(cart.state == Cart())
        #expect(await cart.dispatch(AddItem(name: "a")).revision?.sequence == 2)
        #expect(cart.state == Cart(items: ["a"]))
        client.close()
    }

    @Test("F20: erased actions are previewed, resent over a lost connection, and applied once")
    func lostConnection() async throws {
        let server = try LiveServer(root())
        let (client, cart) = try await client(of: server)
        await server.hold()
        #expect(cart.send(AddItem(name: "early"), isPreviewed: true))
        #expect(cart.items == ["early"])
        await server.until { $0.actionCount == 1 }
        await server.cut()
        await server.release()
        #expect(await cart.dispatch(AddItem(name: "late")).revision?.sequence == 2)
        #expect(cart.items == ["early", "late"])
        let fresh = try await self.client(of: server)
        #expect(fresh.cart.items == ["early", "late"])
        fresh.client.close()
        client.close()
    }

    @Test("F20: an erased action is sent as it is, and not erased again")
    func erased() async throws {
        let server = try LiveServer(root())
        let (client, cart) = try await client(of: server)
        #expect(await cart.dispatch(ErasedAction(AddItem(name: "a"))).revision?.sequence == 1)
        #expect(cart.send(ErasedAction(AddItem(name: "b"))))
        #expect(await cart.dispatch(AddItem(name: "c")).revision?.sequence == 3)
        #expect(cart.items == ["a", "b", "c"])
        client.close()
    }
}
