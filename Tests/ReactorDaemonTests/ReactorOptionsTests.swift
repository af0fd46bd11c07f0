import ReactorWire
import Testing

@testable import ReactorDaemon

struct ReactorOptionsTests {
    private func options(_ values: [String: WireValue]) -> ReactorOptions {
        ReactorOptions(ReactorSpec(name: "v", kind: "k", options: values))
    }

    private func refusal(
        of value: WireValue, _ read: (inout ReactorOptions) throws -> some Any
    ) -> String {
        var options = options(["o": value])
        let problem = #expect(throws: ConfigProblem.self) { _ = try read(&options) }
        return problem?.description ?? ""
    }

    @Test("an absent option has its default, whatever its range")
    func defaults() throws {
        var options = options([:])
        #expect(try options.integer("a", default: -1, in: 0...1) == -1)
        #expect(try options.number("b", default: 0.5) == 0.5)
        #expect(try options.bool("c", default: true))
        #expect(try options.text("d", default: "x", oneOf: ["y"]) == "x")
        #expect(try options.duration("e", default: .seconds(1)) == .seconds(1))
        #expect(try options.byteSize("f", default: 3) == 3)
        #expect(options.value("g") == nil)
    }

    @Test("a present option is read as the requested type")
    func present() throws {
        var options = options([
            "a": 7, "b": 7, "c": false, "d": "y", "e": "5s", "f": "1KiB", "g": ["x", .null],
            "h": 512, "i": 0, "j": 0.25,
        ])
        #expect(try options.integer("a", default: 0, in: 7...7) == 7)
        #expect(try options.number("b", default: 0) == 7)
        #expect(try options.bool("c", default: true) == false)
        #expect(try options.text("d", default: "x", oneOf: ["y"]) == "y")
        #expect(try options.duration("e", default: .zero) == .seconds(5))
        #expect(try options.byteSize("f", default: 0) == 1_024)
        #expect(options.value("g") == ["x", .null])
        #expect(try options.byteSize("h", default: 0) == 512)
        #expect(try options.duration("i", default: .seconds(1)) == .zero)
        #expect(try options.number("j", default: 0) == 0.25)
        #expect(options.unread().isEmpty)
    }

    @Test("a value of the wrong type is reported with the expected and the actual one")
    func wrongTypes() {
        #expect(
            refusal(of: "x") { options in try options.integer("o", default: 0) }
                == "code: v.o: expected an integer, got text \"x\"")
        #expect(
            refusal(of: 1.5) { options in try options.integer("o", default: 0) }
                .hasSuffix("expected an integer, got 1.5"))
        #expect(
            refusal(of: true) { options in try options.number("o", default: 0) }
                .hasSuffix("expected a number, got true"))
        #expect(
            refusal(of: 5) { options in try options.text("o", default: "") }
                .hasSuffix("expected text, in quotes if it looks otherwise, got 5"))
        #expect(
            refusal(of: .bytes([1, 2])) { options in try options.bool("o", default: true) }
                .hasSuffix("expected true or false, got 2 bytes"))
        #expect(
            refusal(of: [:]) { options in try options.byteSize("o", default: 0) }
                .hasSuffix("got a mapping"))
        #expect(
            refusal(of: .null) { options in try options.duration("o", default: .zero) }
                .hasSuffix("got nothing"))
    }

    @Test("an integer beyond 64 bits is out of range, and does not trap")
    func beyond() {
        let beyond: WireValue = 18_446_744_073_709_551_615
        #expect(
            refusal(of: beyond) { options in try options.integer("o", default: 0, in: 0...9) }
                .hasSuffix("expected 0 to 9, got 18446744073709551615"))
    }

    @Test("an option that was not read is reported, with the nearest that was")
    func unread() throws {
        var options = options(["capcity": 3, "other": 1])
        #expect(try options.integer("capacity", default: 9) == 9)
        #expect(
            options.unread().map(\.reason).sorted() == [
                "unknown option of kind k \"capcity\", did you mean capacity?",
                "unknown option of kind k \"other\", expected one of capacity",
            ])
    }

    @Test("a problem of the reactor itself is placed at the option, else at the reactor")
    func ownProblem() {
        let options = options(["o": 1])
        #expect(options.problem("odd", option: "o").description == "code: v.o: odd")
        #expect(options.problem("odd").description == "code: v: odd")
    }
}
