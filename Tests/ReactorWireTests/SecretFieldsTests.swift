import Testing

@testable import ReactorWire

@WireCodable
private struct Account: Equatable {
    var name: String
    @WireSecret @WireAlias("pass") var password: String
    var friends: [Account] = []
    var keys: [String: Key] = [:]

    @WireCodable
    struct Key: Equatable {
        var id: Int
        @WireSecret var bits: [UInt8]?
    }
}

@WireCodable
private enum Deed: Equatable {
    case rename(String)
    @WireSecret case setPassword(String)
    @WireSecret case pair(user: String, password: String)
    case open(Account)
    case move(Int, Account.Key)
    case add(account: Account, by: Int)
    case close
}

/// A type whose arguments change places at each step down.
@WireCodable
private indirect enum Turn<Mine: WireCodable, Other: WireCodable> {
    case mine(Mine)
    case swap(Turn<Other, Mine>)
}

@WireCodable
private struct Plain: Equatable { var bits: Int }

@Suite("SecretFields")
struct SecretFieldsTests {
    @Test("X118: a marked case shows its name alone, and every other case all of its values")
    func cases() throws {
        let secrets = try #require(SecretFields(of: Deed.wireSchema))
        func hidden(_ deed: Deed) throws -> WireValue {
            secrets.hidden(in: try WireValue(wireBytes: deed.wireBytes()))
        }
        #expect(try hidden(.setPassword("hunter2")) == ["setPassword": "(secret)"])
        #expect(try hidden(.pair(user: "a", password: "b")) == ["pair": "(secret)"])
        for deed in [Deed.rename("hunter2"), .close] {
            #expect(try hidden(deed) == WireValue(wireBytes: deed.wireBytes()))
        }
        #expect(secrets.hidden(in: "close") == "close")
    }

    @Test("X118: a marked field is hidden wherever its type occurs, also inside itself")
    func fields() throws {
        let key = Account.Key(id: 7, bits: [1, 2])
        let inner = Account(name: "in", password: "hunter2", keys: ["k": key])
        let outer = Account(name: "out", password: "hunter3", friends: [inner])
        for deed in [Deed.open(outer), .add(account: outer, by: 9), .move(3, key)] {
            let value = try WireValue(wireBytes: deed.wireBytes())
            let secrets = try #require(SecretFields(of: Deed.wireSchema))
            let text = secrets.hidden(in: value).description
            #expect(!text.contains("hunter") && !text.contains("$bytes"), "\(text)")
            #expect(text.contains("(secret)"))
            #expect(deed == .move(3, key) || text.contains("\"in\"") && text.contains("\"out\""))
        }
    }

    @Test(
        "X118: a value that does not fit is hidden as a whole, and so is an unknown field beside a secret",
        arguments: [
            ["setPasswrd": "hunter2"], "hunter2", ["hunter2"],
            ["open": "hunter2"], ["open": ["hunter2"]], ["move": ["hunter2"]],
            ["open": ["name": "a", "passwrd": "hunter2"]], ["open": ["pass": "hunter2"]],
            ["rename": "a", "setPassword": "hunter2"], ["add": ["hunter2", 1]],
            ["add": ["acount": ["password": "hunter2"], "by": 1]], ["close": "hunter2"],
            ["move": [["bits": "hunter2"], ["id": 3]]], ["move": ["hunter2", ["id": 3]]],
            ["rename": ["setPassword": "hunter2"]],
        ] as [WireValue])
    func misfits(value: WireValue) throws {
        let secrets = try #require(SecretFields(of: Deed.wireSchema))
        let text = secrets.hidden(in: value).description
        #expect(!text.contains("hunter2") && text.contains("(secret)"), "\(text)")
    }

    @Test("two forms of a generic type hide what either of them hides")
    func forms() throws {
        let secrets = try #require(SecretFields(of: Turn<Account.Key, Plain>.wireSchema))
        let key = Account.Key(id: 1, bits: [9])
        let value = Turn<Account.Key, Plain>.swap(.swap(.mine(key)))
        let text = secrets.hidden(in: try WireValue(wireBytes: value.wireBytes())).description
        #expect(!text.contains("$bytes"), "\(text)")
    }

    @Test("a type without marks has no secrets, and a mark changes neither schema nor fingerprint")
    func unmarked() throws {
        #expect(SecretFields(of: Plain.wireSchema) == nil)
        #expect(SecretFields(of: WireSchema.self.wireSchema) == nil)
        let read = try WireSchema(wireBytes: Deed.wireSchema.wireBytes())
        #expect(read == Deed.wireSchema && read.fingerprint == Deed.wireSchema.fingerprint)
        // What a peer or a history says of a type has no marks.
        #expect(SecretFields(of: read) == nil)
    }
}
