/// A declaration of a type, function, constant or import.
struct Declaration: Equatable {
    /// The kind of declaration.
    enum Kind: Equatable { case type, function, value, module }

    let kind: Kind
    /// The declared name; for an import the module's.
    let name: String
    let modifiers: [String]
    /// Line, counted from 0.
    let line: Int
}

extension SourceFile {
    /// Every declaration that starts on its own line, in order.
    var declarations: [Declaration] {
        code.enumerated().compactMap { line, text in
            var modifiers: [String] = []
            var words = text.split { $0 == " " || $0 == "\t" }[...]
            while let word = words.popFirst() {
                if let kind = Self.kinds[String(word)], let next = words.first {
                    let isScoped = kind == .module && Self.kinds[String(next)] != nil
                    let name = (isScoped ? words.dropFirst().first ?? next : next)
                        .prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" }
                    // In `class func` and `class var`, `class` is a modifier.
                    if word == "class", Self.kinds[String(next)] != nil {
                        modifiers.append("class")
                        continue
                    }
                    return Declaration(
                        kind: kind, name: String(name), modifiers: modifiers, line: line)
                }
                if word.hasPrefix("init(") || word.hasPrefix("init<") || word.hasPrefix("init?(") {
                    return Declaration(
                        kind: .function, name: "init", modifiers: modifiers, line: line)
                }
                guard Self.isModifier(word) else { return nil }
                modifiers.append(String(word))
            }
            return nil
        }
    }

    /// The lines of each function with a body, from its first word to its last brace.
    var functions: [(name: String, lines: ClosedRange<Int>)] {
        declarations.filter { $0.kind == .function }.compactMap { declaration in
            guard let end = bodyEnd(from: declaration.line) else { return nil }
            return (declaration.name, declaration.line...end)
        }
    }

    /// The line of the brace that closes the body that begins at or after `start`; nil without a
    /// body.
    private func bodyEnd(from start: Int) -> Int? {
        var braces = 0
        var parentheses = 0
        for line in start..<code.count {
            if line > start, braces == 0, parentheses == 0, startsAnew(line) { return nil }
            for byte in code[line].utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
                // A parameter's default may be a closure.
                case UInt8(ascii: "{") where parentheses == 0 || braces > 0: braces += 1
                case UInt8(ascii: "}") where braces > 0:
                    braces -= 1
                    if braces == 0 { return line }
                case UInt8(ascii: "}") where parentheses == 0: return nil
                default: break
                }
            }
        }
        return nil
    }

    /// Whether the line begins another declaration, so that the one above has no body.
    private func startsAnew(_ line: Int) -> Bool {
        guard let word = code[line].split(separator: " ").first else { return true }
        return Self.kinds[String(word)] != nil || Self.isModifier(word)
    }

    private static func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || modifierWords.contains(String(word.prefix { $0 != "(" }))
    }

    private static let kinds: [String: Declaration.Kind] = [
        "struct": .type, "class": .type, "enum": .type, "actor": .type, "protocol": .type,
        "typealias": .type, "macro": .function, "func": .function, "let": .value, "var": .value,
        "import": .module,
    ]

    private static let modifierWords: Set = [
        "public", "package", "internal", "fileprivate", "private", "open", "final", "static",
        "class", "mutating", "nonmutating", "override", "required", "convenience", "indirect",
        "lazy", "weak", "unowned", "nonisolated", "isolated", "borrowing", "consuming", "prefix",
        "postfix", "infix", "dynamic", "distributed", "unsafe",
    ]
}
