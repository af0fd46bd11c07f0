import Testing

@testable import ReactorYAML

struct YAMLComposerTests {
    private func root(_ text: String, depthMax: Int = 8) throws(YAMLError) -> YAMLNode? {
        try YAMLComposer.document(text, within: YAMLLimits(depthMax: depthMax, aliasesMax: 2))
    }

    private func refusal(_ text: String) -> YAMLError? {
        do throws(YAMLError) { _ = try root(text) } catch { return error }
        return nil
    }

    /// A node as text: tags first, plain scalars unquoted, others in quotes.
    private func shown(_ node: YAMLNode?) -> String {
        guard let node else { return "none" }
        let content =
            switch node.content {
            case .scalar(let scalar): scalar.isPlain ? scalar.text : "'\(scalar.text)'"
            case .sequence(let nodes): "[" + nodes.map(shown).joined(separator: ",") + "]"
            case .mapping(let pairs):
                "{" + pairs.map { "\($0.key.text):\(shown($0.value))" }.joined(separator: ",")
                    + "}"
            }
        return node.tag.isEmpty || node.tag == YAMLTag.text && !content.isEmpty
            ? content : "<\(node.tag)>\(content)"
    }

    @Test(
        "a document is parsed into a tree",
        arguments: [
            ("", "none"), ("# only a comment\n", "none"), ("---\n", ""), ("a", "a"),
            ("a: 1\nb: [x, 'y z', \"\\u00e9\"]\n", "{a:1,b:[x,'y z','é']}"),
            ("- |\n  two\n  lines\n- {}\n", "['two\nlines\n',{}]"),
            (
                "a: ! 5\nb: !!binary aGk=\nc: !x []\nd: !!map {}\n",
                "{a:<!>5,b:<tag:yaml.org,2002:binary>aGk=,c:<!x>[],d:<tag:yaml.org,2002:map>{}}"
            ),
            ("a: &x [1]\nb: *x\n", "{a:[1],b:[1]}"),
            ("a: &x 1\nb: &x 2\nc: *x\n", "{a:1,b:2,c:2}"),
            ("\"a\\0b\"", "'a\0b'"),
        ])
    func trees(text: String, expected: String) throws {
        #expect(shown(try root(text)) == expected)
    }

    @Test("a node has its place, in characters and from 1; an alias has the place of its value")
    func marks() throws {
        let node = try root("é: &x [1,\n  é2, z]\nb: *x\n")
        guard case .mapping(let pairs)? = node?.content,
            case .sequence(let elements) = pairs[0].value.content
        else {
            Issue.record("\(String(describing: node))")
            return
        }
        #expect(node?.mark == YAMLMark(line: 1, column: 1))
        #expect(pairs[0].value.mark == YAMLMark(line: 1, column: 4))
        #expect(elements[2].mark == YAMLMark(line: 2, column: 7))
        #expect(pairs[1].keyMark == YAMLMark(line: 3, column: 1))
        #expect(pairs[1].value.mark == YAMLMark(line: 1, column: 4))
    }

    @Test("invalid YAML is refused with its place, and with the place where the construct began")
    func syntax() {
        #expect(
            refusal("a: [ }")
                == .syntax(
                    problem: "did not find expected node content",
                    context: YAMLContext(
                        text: "while parsing a flow node", mark: YAMLMark(line: 1, column: 6)),
                    mark: YAMLMark(line: 1, column: 6)))
        #expect(
            refusal("é: b: c")
                == .syntax(
                    problem: "mapping values are not allowed in this context", context: nil,
                    mark: YAMLMark(line: 1, column: 5)))
        #expect(
            refusal("é: \u{1}")
                == .character(
                    problem: "control characters are not allowed", byteOffset: 4, value: 1))
        #expect(
            refusal("a: 1\n---\nb: 2\n")
                == .syntax(
                    problem: "but found another document",
                    context: YAMLContext(
                        text: "expected a single document in the stream",
                        mark: YAMLMark(line: 1, column: 1)),
                    mark: YAMLMark(line: 2, column: 1)))
    }

    @Test("a duplicate scalar key is refused, with the place of the first")
    func duplicates() {
        let text = "x:\n  b: 1\n  a: 2\n  'b': 3\n  a: 4\n"
        #expect(
            refusal(text) == .duplicateKeys(["a", "b"], first: YAMLMark(line: 3, column: 3)))
        #expect(refusal("a: {a: 1}\nb: {a: 1}") == nil)
    }

    @Test("nesting and aliases have limits, and the first node above one is named by its place")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(refusal(nested(8)) == nil)
        #expect(refusal(nested(9)) == .depth(mark: YAMLMark(line: 1, column: 9)))
        #expect(
            refusal(String(repeating: "[", count: 1 << 20))
                == .depth(mark: YAMLMark(line: 1, column: 9)))
        #expect(refusal("[&a 1, *a, *a]") == nil)
        #expect(
            refusal("[&a 1, *a, *a, *a]") == .aliasCount(mark: YAMLMark(line: 1, column: 16)))
        #expect(refusal("a: &a 1\n*a : 2") == .aliasAsKey(mark: YAMLMark(line: 2, column: 1)))
        #expect(
            refusal("a: 1\n? [a]\n: 2") == .collectionAsKey(mark: YAMLMark(line: 2, column: 3)))
        #expect(
            refusal("[*a]")
                == .syntax(
                    problem: "found undefined alias", context: nil,
                    mark: YAMLMark(line: 1, column: 2)))
    }
}
