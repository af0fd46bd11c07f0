import ReactorWire
import Testing

@Suite("Paths into the standard library's types")
struct WireStandardPathTests {
    /// The value at `path` in hexadecimal, or how far the path leads.
    private func at(_ path: [WireKey], _ value: some WireCodable) -> String {
        var writer = WireWriter()
        let reach = value.encode(at: path[...], into: &writer)
        return reach == .found ? writer.bytes.hex : "\(reach)"
    }

    @Test("an empty path is the value itself")
    func empty() {
        #expect(at([], 5) == "05")
        #expect(at([], [5]) == "8105")
        #expect(at([], ["a": 5]) == "a1616105")
        #expect(at([], Int?.none) == "f6")
        #expect(at([], Set([5])) == "8105")
        #expect(at([], ["a": 5] as WireValue) == "a1616105")
    }

    @Test("no path leads below a scalar or a set")
    func scalars() {
        #expect(at(["a"], 5) == "impossible")
        #expect(at(["0"], "text") == "impossible")
        #expect(at(["0"], Set([5])) == "impossible")
    }

    @Test(
        "an array has decimal indices: beyond the end is absent, another form impossible",
        arguments: [
            ("0", "05"), ("2", "07"), ("3", "absent"), ("99999999999999999999", "absent"),
            ("00", "impossible"), ("-1", "impossible"), ("+1", "impossible"), ("", "impossible"),
            ("a", "impossible"), ("١", "impossible"),
        ])
    func indices(component: String, expected: String) {
        #expect(at([WireKey(component)], [5, 6, 7]) == expected)
        let value = at([WireKey(component)], [5, 6, 7] as WireValue)
        // A value of any shape may become a map, so no path is impossible.
        #expect(value == (expected == "impossible" ? "absent" : expected))
    }

    @Test("a dictionary has its keys; text that is not a key of its type is impossible")
    func keys() {
        #expect(at(["b"], ["a": 1, "b": 2]) == "02")
        #expect(at(["c"], ["a": 1, "b": 2]) == "absent")
        #expect(at(["7"], [7: true]) == "f5")
        #expect(at(["8"], [7: true]) == "absent")
        #expect(at(["07"], [7: true]) == "impossible")
        #expect(at(["256"], [UInt8(7): true]) == "impossible")
        #expect(at(["x"], [WireKey("x"): 1]) == "01")
    }

    @Test("paths continue through containers and optionals, and end at nil")
    func nested() {
        let state: [String: [[Int: String?]]?] = ["a": [[1: "x", 2: nil]], "b": nil]
        #expect(at(["a", "0", "1"], state) == "6178")
        #expect(at(["a", "0", "2"], state) == "f6")
        #expect(at(["a", "0", "2", "y"], state) == "absent")
        #expect(at(["b"], state) == "f6")
        #expect(at(["b", "0"], state) == "absent")
        #expect(at(["a", "0", "1", "y"], state) == "impossible")
        let value: WireValue = ["a": [["x": 1]], "b": .null]
        #expect(at(["a", "0", "x"], value) == "01")
        #expect(at(["a", "0", "x", "y"], value) == "absent")
        #expect(at(["b", "c"], value) == "absent")
    }
}
