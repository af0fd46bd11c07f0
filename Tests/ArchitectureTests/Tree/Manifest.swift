/// The package manifest, parsed from its text.
///
/// Parsed, because the package manager would wait for the build that runs this test.
struct Manifest {
    /// A target of the manifest.
    struct Target {
        /// `target`, `macro`, `testTarget`, `executableTarget` or `systemLibrary`.
        let kind: String
        let name: String
        /// Targets of this package that the target depends on.
        var rooms: Set<String> = []
        /// Products of other packages that the target depends on.
        var products: Set<String> = []
        /// Whether the target has the common settings.
        let isStrict: Bool
        /// Line, counted from 0.
        let line: Int
    }

    let targets: [Target]

    /// Parses a manifest's text.
    init(_ text: String) {
        var scanner = ManifestScanner(text)
        var found: [Target] = []
        while let call = scanner.nextCall(named: Self.kinds) {
            guard let name = call.string(after: "name:") else { continue }
            let dependencies = call.list(after: "dependencies:")
            var target = Target(
                kind: call.name, name: name,
                isStrict: call.body.contains("swiftSettings: strict"), line: call.line)
            for dependency in dependencies {
                if let product = scanner.product(dependency) {
                    target.products.insert(product)
                } else {
                    target.rooms.insert(scanner.target(dependency))
                }
            }
            found.append(target)
        }
        targets = found
    }

    private static let kinds = [
        ".target", ".macro", ".testTarget", ".executableTarget", ".systemLibrary",
    ]
}

/// Finds calls and their balanced arguments in a manifest.
private struct ManifestScanner {
    /// A call, with the text between its parentheses.
    struct Call {
        let name: String
        let body: String
        let line: Int

        /// Returns the string literal that follows `label`.
        func string(after label: String) -> String? {
            guard let range = body.firstRange(of: label) else { return nil }
            let rest = body[range.upperBound...].drop { $0 != "\"" }.dropFirst()
            return String(rest.prefix { $0 != "\"" })
        }

        /// Returns the elements of the array literal that follows `label`.
        func list(after label: String) -> [String] {
            guard let range = body.firstRange(of: label) else { return [] }
            var elements: [String] = []
            var element = ""
            var depth = 0
            for character in body[range.upperBound...] {
                if "([".contains(character) { depth += 1 }
                if ")]".contains(character) { depth -= 1 }
                if depth == 0, character == "]" { break }
                if depth == 1, "[,".contains(character) {
                    elements.append(element)
                    element = ""
                } else {
                    element.append(character)
                }
            }
            return (elements + [element]).map { $0.trimming(" \n\t") }.filter { !$0.isEmpty }
        }
    }

    private let text: String
    private var rest: Substring

    init(_ text: String) {
        // Removes comments, which may contain an unbalanced parenthesis.
        self.text = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }.joined(separator: "\n")
        rest = self.text[...]
    }

    /// Returns the next call of one of `names`; nil at the end.
    mutating func nextCall(named names: [String]) -> Call? {
        let starts = names.compactMap { name in
            rest.firstRange(of: "\(name)(").map { (name: name, range: $0) }
        }
        guard let first = starts.min(by: { $0.range.lowerBound < $1.range.lowerBound }) else {
            return nil
        }
        var depth = 1
        let body = rest[first.range.upperBound...].prefix { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth > 0
        }
        let line = text[..<first.range.lowerBound].count { $0 == "\n" }
        rest = rest[body.endIndex...]
        return Call(name: String(first.name.dropFirst()), body: String(body), line: line)
    }

    /// Returns the product that a dependency names, directly or through a constant; nil if it
    /// names a target.
    func product(_ dependency: String) -> String? {
        if dependency.hasPrefix("\"") || dependency.hasPrefix(".target") { return nil }
        var expression = dependency[...]
        if !dependency.hasPrefix(".product") {
            guard let range = text.firstRange(of: "let \(dependency) =") else { return nil }
            expression = text[range.upperBound...]
        }
        return Call(name: "", body: String(expression), line: 0).string(after: "name:")
    }

    /// Returns the target that a dependency names, directly or with a condition.
    func target(_ dependency: String) -> String {
        Call(name: "", body: dependency, line: 0).string(after: "name:")
            ?? dependency.trimming("\"")
    }
}

extension String {
    fileprivate func trimming(_ set: String) -> String {
        let tail = drop { set.contains($0) }
        return String(tail.reversed().drop { set.contains($0) }.reversed())
    }
}
