import ReactorWire
import Testing

@Suite("The path of a slice")
struct SlicePathTests {
    private func condition(_ text: String) -> SlicePathError.Condition? {
        do throws(SlicePathError) {
            _ = try SlicePath(text)
            return nil
        } catch {
            return error.condition
        }
    }

    @Test("a path consists of its components, and / alone is the root")
    func components() throws {
        #expect(try SlicePath("/") == .root)
        #expect(try SlicePath("/inventory/items/42").components == ["inventory", "items", "42"])
        #expect(SlicePath.root.appending("a").description == "/a")
        #expect(SlicePath.root.description == "/")
    }

    // [WIRE-5-1]
    @Test("any key can be written with percent-encoding, and is printed that way")
    func encoding() throws {
        #expect(try SlicePath("/a%2Fb/50%25/%c3%A9").components == ["a/b", "50%", "\u{e9}"])
        let path = SlicePath(["a/b", "50%", "\u{e9}", "x y"])
        #expect(path.description == "/a%2Fb/50%25/\u{e9}/x y")
        #expect(try SlicePath(path.description) == path)
    }

    @Test("W14: NUL, only dots, empty components and invalid UTF-8 are refused")
    func refused() {
        #expect(condition("/a/%00") == .forbiddenComponent)
        #expect(condition("/a/../b") == .forbiddenComponent)
        #expect(condition("/.") == .forbiddenComponent)
        #expect(condition("/%2e%2E") == .forbiddenComponent)
        #expect(condition("/a//b") == .emptyComponent)
        #expect(condition("/a/") == .emptyComponent)
        #expect(condition("//") == .emptyComponent)
        #expect(condition("") == .relative)
        #expect(condition("a") == .relative)
        for text in ["/%", "/%2", "/%zz", "/a%2", "/%+1"] {
            #expect(condition(text) == .badPercent, "\(text)")
        }
        for text in ["/%ff", "/%c3", "/%ed%a0%80", "/%c0%af"] {
            #expect(condition(text) == .notText, "\(text)")
        }
        #expect(condition("/...") == nil)
        #expect(condition("/.hidden") == nil)
    }

    @Test("W15: two Unicode forms of a text are two components")
    func twins() throws {
        #expect(try SlicePath("/caf\u{e9}") != SlicePath("/cafe\u{301}"))
    }

    // [WIRE-5-2]
    @Test("the longest path is accepted, and one more byte or component is refused")
    func limits() {
        let bytes = String(repeating: "a", count: WireLimits.pathBytesMax - 1)
        #expect(condition("/" + bytes) == nil)
        #expect(condition("/a" + bytes) == .tooLong)
        let deep = String(repeating: "/a", count: WireLimits.pathComponentsMax)
        #expect(condition(deep) == nil)
        #expect(condition(deep + "/a") == .tooLong)
    }

    @Test("an error names the path and the remedy")
    func description() {
        let error = SlicePathError.Condition.relative
        do throws(SlicePathError) {
            _ = try SlicePath("visits")
            Issue.record("the path was read")
        } catch {
            #expect(error.description == "path visits: a path starts with /")
        }
        #expect(condition("visits") == error)
    }
}
