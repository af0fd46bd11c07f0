import GuestbookCore
import ReactorClient

@main
struct Sign {
    static func main() async throws {
        let client = try await Client.connect(to: .daemon("guestbook-daemon"))
        let book = try await client.mirror(Guestbook.self, at: "/")
        let outcome = await book.dispatch(.sign(name: "Bob", text: "hello back"))
        if case .rejected(let rejection) = outcome { print(rejection.message) }
        for await entries in book.states(\.entries) {
            for number in entries.keys.sorted() { print(number, entries[number] ?? "") }
        }
    }
}
