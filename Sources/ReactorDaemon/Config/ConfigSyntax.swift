import ReactorYAML

/// Turns an error of the YAML parser into one line with its location, and a remedy if one is known.
enum ConfigSyntax {
    /// The problem behind an error that the parser threw while it read `text`.
    static func problem(for error: YAMLError, in text: String, file: String) -> ConfigProblem {
        func location(_ mark: YAMLMark) -> ConfigLocation {
            ConfigLocation(file: file, line: mark.line, column: mark.column)
        }
        switch error {
        case .syntax(let problem, let context, let mark):
            return ConfigProblem(
                reason(problem, context: context, at: mark, in: text), at: location(mark))
        case .character(let problem, let byteOffset, let value):
            return ConfigProblem(
                "\(problem), got U+\(String(value, radix: 16, uppercase: true))",
                at: self.location(ofByte: byteOffset, in: text, file: file))
        case .duplicateKeys(let names, let mark):
            let keys = names.map(ConfigProblem.quoted).joined(separator: ", ")
            return ConfigProblem(
                "key \(keys) is repeated in one mapping, first used here; keep one",
                at: location(mark))
        case .depth(let mark):
            return ConfigProblem(ConfigDocument.deepNesting, at: location(mark))
        case .collectionAsKey(let mark):
            return ConfigProblem(
                "expected a name as key, got a mapping or list", at: location(mark))
        case .aliasAsKey(let mark):
            return ConfigProblem(
                "an alias cannot be a key, write the name itself", at: location(mark))
        case .aliasCount(let mark):
            return ConfigProblem(
                "more than \(ConfigDocument.aliasesMax) aliases, write the values themselves",
                at: location(mark))
        case .memory:
            return ConfigProblem("not YAML: memory error", at: ConfigLocation(file: file))
        }
    }

    private static func reason(
        _ problem: String, context: YAMLContext?, at mark: YAMLMark, in text: String
    ) -> String {
        if character(at: mark, in: text) == "\t" {
            return "a tab cannot indent YAML, use spaces"
        }
        var reason = "not YAML: \(problem)"
        if let context { reason += ", \(context.text) that began in line \(context.mark.line)" }
        return reason
    }

    private static func character(at mark: YAMLMark, in text: String) -> Unicode.Scalar? {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }

    private static func location(ofByte offset: Int, in text: String, file: String)
        -> ConfigLocation
    {
        let end = text.utf8.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex)
        guard let end = end?.samePosition(in: text) else { return ConfigLocation(file: file) }
        let lines = text[..<end].split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return ConfigLocation(file: file, line: lines.count, column: (lines.last?.count ?? 0) + 1)
    }
}
