import Testing

@Suite("The visibility of generated members")
struct WireAccessTests {
    private let body = "{ case open(by: Int) }"

    @Test("members have the access level of their type")
    func modifiers() {
        for (modifier, member) in [
            ("public ", "public "), ("package ", "package "), ("", ""), ("internal ", ""),
            ("fileprivate ", ""),
        ] {
            let expanded = expansion(of: "@WireCodable \(modifier)enum Action \(body)")
            #expect(expanded.contains("\n    \(member)static var wireSchema: WireSchema"))
        }
    }

    @Test("bodies are inlinable only if everything around them is public")
    func inlinable() {
        let sources = [
            ("@WireCodable public enum Action \(body)", true),
            ("public struct Shop { @WireCodable public enum Action \(body) }", true),
            ("struct Shop { @WireCodable public enum Action \(body) }", false),
            ("public extension Shop { @WireCodable enum Action \(body) }", false),
            ("@WireCodable enum Action \(body)", false),
            ("@WireCodable public struct State { public var a: Int }", true),
            ("@WireCodable public struct State { public private(set) var a: Int }", false),
            ("@WireCodable public struct State { public var a: Int; var b: Int }", false),
        ]
        for (source, isInlinable) in sources {
            #expect(expansion(of: source).contains("@inlinable") == isInlinable, "\(source)")
        }
    }

    @Test("members of a public extension are declared public")
    func publicExtension() {
        let source = "public extension Shop { @WireCodable enum Action \(body) }"
        #expect(expansion(of: source).contains("public static var wireSchema"))
    }
}
