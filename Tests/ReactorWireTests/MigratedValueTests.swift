import Testing

@testable import ReactorWire

@WireCodable
private struct Point: Equatable {
    var x: Int
    var y: Int
}

@Suite("A value in a step of a migration")
struct MigratedValueTests {
    private func fields() -> MigratedValue { MigratedValue(["street": "A", "zip": 8_000]) }

    private func problem(_ body: (inout MigratedValue) throws -> Void) -> String {
        var value = fields()
        do { try body(&value) } catch { return "\(error)" }
        return "no problem"
    }

    @Test("fields are renamed, removed, set and converted")
    func changes() throws {
        var value = fields()
        try value.rename("street", to: "road")
        try value.convert("zip") { (zip: Int) in String(zip) }
        try value.set("place", to: Point(x: 1, y: 2))
        #expect(value.value == ["road": "A", "zip": "8000", "place": ["x": 1, "y": 2]])
        #expect(value["road"] == "A" && value["street"] == nil)
        #expect(try value.read("place", as: Point.self) == Point(x: 1, y: 2))
        #expect(value.remove("zip") == "8000")
        #expect(value.remove("zip") == nil)
        #expect(value.value == ["road": "A", "place": ["x": 1, "y": 2]])
    }

    @Test("a field that is not there, or of another type, is a problem that names it")
    func problems() {
        #expect(
            problem { try $0.rename("road", to: "way") }
                == #"there is no field "road": the value has zip, street"#)
        #expect(
            problem { try $0.rename("street", to: "zip") }
                == #"field "street" cannot become "zip", which the value has already: remove that "#
                + "field first")
        #expect(
            problem { try $0.convert("street") { (n: Int) in n } }.hasPrefix(#"field "street": "#))
        #expect(problem { _ = try $0.read("zip", as: String.self) }.hasPrefix(#"field "zip": "#))
        #expect(
            problem {
                $0.value = [1, 2]
                try $0.set("a", to: 1)
            } == "expected fields, got an array")
    }

    @Test("a conversion loses no part of the old value without an error")
    func strict() {
        var value = MigratedValue(["place": ["x": 1, "y": 2, "z": 3]])
        #expect(throws: MigratedValue.Problem.self) {
            try value.convert("place") { (place: Point) in place.x }
        }
    }

    @Test("a case is renamed, and its payload converted, only where the value is of that case")
    func cases() throws {
        var value = MigratedValue(["warm": ["by": 3]])
        value.renameCase("cool", to: "chill")
        try value.inCase("cool") { try $0.rename("by", to: "to") }
        #expect(value.value == ["warm": ["by": 3]])
        value.renameCase("warm", to: "heat")
        try value.inCase("heat") { try $0.rename("by", to: "to") }
        #expect(value.value == ["heat": ["to": 3]] && value.caseName == "heat")
        value.inCase("heat") { $0.value = $0["to"] ?? .null }
        #expect(value.value == ["heat": 3])
        var bare = MigratedValue("reset")
        bare.renameCase("reset", to: "clear")
        #expect(bare.value == ["clear": [:]])
        #expect(MigratedValue([1]).caseName == nil)
    }
}
