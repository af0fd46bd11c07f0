/// A declaration that is visible to other modules.
struct PublicSymbol {
    /// Its name; `subscript` for a subscript, `init(label` for an initializer.
    let name: String
    /// Line, counted from 0.
    let line: Int
    /// Whether a documentation comment precedes the declaration, possibly with attributes between.
    let isDocumented: Bool
    /// Whether the declaration overrides another one, which is documented.
    let isOverride: Bool
    /// The names in the header of the type or extension that contains it: the type, and the
    /// protocols it conforms to there.
    let owners: Set<String>
}

/// The header and the requirements of a type.
struct TypeOutline {
    /// The requirements, if the type is a protocol.
    var requirements: Set<String> = []
    /// The names in the type's header, including the protocols it conforms to or refines.
    var parents: Set<String> = []

    /// Merges the outlines of two types with the same name, since the rules know a type only by
    /// its name.
    func joined(with other: TypeOutline) -> TypeOutline {
        TypeOutline(
            requirements: requirements.union(other.requirements),
            parents: parents.union(other.parents))
    }
}

extension SourceFile {
    /// The declarations that are `public` or `open`, in order, without imports.
    var publicSymbols: [PublicSymbol] {
        code.indices.compactMap { line in
            let words = words(in: line)
            guard
                let access = words.firstIndex(where: { $0 == "public" || $0 == "open" }),
                words[..<access].allSatisfy(Self.standsBeforeAccess),
                let name = Self.declaredName(words[(access + 1)...])
            else { return nil }
            return PublicSymbol(
                name: name, line: line, isDocumented: isDocumented(line),
                isOverride: words.contains("override"), owners: header(around: line))
        }
    }

    /// The types declared here, by name.
    var outlines: [String: TypeOutline] {
        var found: [String: TypeOutline] = [:]
        for declaration in declarations where declaration.kind == .type {
            var outline = TypeOutline(parents: header(from: declaration.line))
            if words(in: declaration.line).contains("protocol") {
                outline.requirements = requirements(ofProtocolAt: declaration.line)
            }
            found[declaration.name] = outline
        }
        return found
    }

    private func requirements(ofProtocolAt start: Int) -> Set<String> {
        var names: Set<String> = []
        let indent = indent(of: start)
        let end = String(repeating: " ", count: indent) + "}"
        for line in (start + 1)..<code.count {
            if code[line].hasPrefix(end) { break }
            guard self.indent(of: line) == indent + 4 else { continue }
            if let name = Self.declaredName(words(in: line)[...]) { names.insert(name) }
        }
        return names
    }

    /// Returns the name that the words declare, after their modifiers.
    private static func declaredName(_ words: ArraySlice<Substring>) -> String? {
        var words = words
        while let word = words.popFirst() {
            // The first label distinguishes a literal's initializer from others.
            if word == "init" || word.starts(with: /init[(<?]/) {
                return String(word.prefix { $0 != ":" })
            }
            if word.hasPrefix("subscript") { return "subscript" }
            guard keywords.contains(String(word)), let next = words.first else {
                if word.hasPrefix("@") || modifiers.contains(String(word.prefix { $0 != "(" })) {
                    continue
                }
                return nil
            }
            // In `class func`, `class` is a modifier.
            if word == "class", keywords.contains(String(next)) { continue }
            let name = next.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" }
            return String(name.isEmpty ? next.prefix { $0 != "(" } : name)
        }
        return nil
    }

    private static func standsBeforeAccess(_ word: Substring) -> Bool {
        word.hasPrefix("@") || modifiers.contains(String(word.prefix { $0 != "(" }))
    }

    private func words(in line: Int) -> [Substring] { code[line].split(separator: " ") }

    private func indent(of line: Int) -> Int { code[line].prefix { $0 == " " }.count }

    private func isDocumented(_ line: Int) -> Bool {
        var above = line - 1
        while above >= 0 {
            let text = lines[above].drop { $0 == " " }
            if text.hasPrefix("///") { return true }
            if text.hasPrefix(")") {
                // The end of an attribute of several lines.
                above = lines[..<above].lastIndex { $0.drop { $0 == " " }.hasPrefix("@") } ?? -1
                continue
            }
            guard text.hasPrefix("@") || text.hasPrefix("//") || text.hasPrefix("#if") else {
                return false
            }
            above -= 1
        }
        return false
    }

    /// The names in the header of the declaration that contains a line.
    private func header(around line: Int) -> Set<String> {
        let own = indent(of: line)
        let above = code[..<line].indices.reversed().first { candidate in
            indent(of: candidate) < own
                && words(in: candidate).contains { Self.holders.contains(String($0)) }
        }
        return above.map { header(from: $0) } ?? []
    }

    /// The names in a header that begins at a line, from the attributes above it to its brace.
    private func header(from start: Int) -> Set<String> {
        var names: Set<String> = []
        var first = start
        while first > 0, code[first - 1].drop(while: { $0 == " " }).hasPrefix("@") { first -= 1 }
        for line in first..<code.count {
            let text = code[line].prefix { $0 != "{" }
            let parts = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            names.formUnion(parts.map(String.init))
            if code[line].contains("{"), line >= start { break }
        }
        return names
    }

    private static let holders: Set = ["struct", "class", "enum", "actor", "protocol", "extension"]

    private static let keywords = holders.union([
        "func", "var", "let", "typealias", "associatedtype", "macro",
    ])

    private static let modifiers: Set = [
        "static", "final", "override", "mutating", "nonmutating", "nonisolated", "isolated",
        "indirect", "lazy", "weak", "unowned", "required", "convenience", "prefix", "postfix",
        "infix", "dynamic", "internal", "private", "fileprivate", "package", "unsafe", "consuming",
        "borrowing", "public", "open",
    ]
}
