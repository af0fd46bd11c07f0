import ReactorCore
import ReactorTesting
import Testing

@Suite("The difference of two values")
struct DifferenceTests {
    private func lines(_ expected: String, _ got: String) throws -> [String] {
        try Difference(expected: WireValue(json: expected), got: WireValue(json: got)).lines
    }

    @Test("equal values have no difference")
    func equal() throws {
        #expect(try lines(#"{"a":[1,2]}"#, #"{"a":[1,2]}"#) == [])
    }

    @Test("only changed fields are shown, in their place; the unchanged ones are counted")
    func fields() throws {
        #expect(
            try lines(
                #"{"a":1,"b":{"x":1,"y":2},"c":3,"d":0}"#, #"{"a":1,"b":{"x":1,"y":3},"e":4,"d":0}"#
            )
                == [
                    "  {", "    b: {", "-     y: 2", "+     y: 3", "      (1 unchanged)", "    }",
                    "-   c: 3", "+   e: 4", "    (2 unchanged)", "  }",
                ])
    }

    @Test("elements of arrays are identified by their index")
    func elements() throws {
        #expect(
            try lines("[1,2,3,4]", "[1,2,9,3,4]")
                == ["  [", "    (2 unchanged)", "+   2: 9", "    (2 unchanged)", "  ]"])
        #expect(
            try lines("[1,2]", "[1]") == ["  [", "    (1 unchanged)", "-   1: 2", "  ]"])
    }

    @Test("values of different types, and long ones, are shown in one line each")
    func others() throws {
        #expect(try lines("1", #""one""#) == ["- 1", #"+ "one""#])
        let long = String(repeating: "x", count: 1_000)
        let text = try lines("1", "\"\(long)\"")[1]
        #expect(text.hasSuffix("… (1002 characters)") && text.count < 300)
    }
}
