import Testing

/// Code and comments do not contain forbidden words.
struct WordTests {
    /// Lines of `file` that contain a word that `rule` forbids.
    static func findings(in file: SourceFile, rule: WordRule) -> [Finding] {
        guard rule.scope.contains(where: { file.path.hasPrefix($0 + "/") }),
            !rule.allowed.keys.contains(where: { file.path == $0 || file.path.hasPrefix($0 + "/") })
        else { return [] }
        return file.code.enumerated().compactMap { line, text in
            guard rule.needles.contains(where: { $0.isFound(in: text) }) else { return nil }
            return file.finding(
                at: line, "\(rule.name): \(file.lines[line].drop { $0 == " " })",
                remedy: rule.remedy)
        }
    }

    /// Comments in `file` that are reminders.
    static func reminders(in file: SourceFile) -> [Finding] {
        file.comments.enumerated().compactMap { line, text in
            guard Reminders.needles.contains(where: { $0.isFound(in: text) }) else { return nil }
            return file.finding(at: line, "a reminder", remedy: "do it, or open an issue for it")
        }
    }

    @Test("no forbidden word occurs", arguments: WordRule.all.map(\.name))
    func words(name: String) {
        let rules = WordRule.all.filter { $0.name == name }
        for rule in rules {
            expectNone(Repository.current.files.flatMap { Self.findings(in: $0, rule: rule) })
        }
    }

    @Test("every place where a word is allowed exists and has a reason")
    func allowed() {
        for rule in WordRule.all {
            for (place, reason) in rule.allowed {
                #expect(
                    Repository.current.paths.contains { $0 == place || $0.hasPrefix(place + "/") },
                    "\(place) is allowed \(rule.name) and does not exist")
                #expect(!reason.isEmpty)
            }
        }
    }

    @Test("no comment is a reminder")
    func remindersInTree() {
        expectNone(Repository.current.files.flatMap(Self.reminders))
    }

    @Test(
        "a planted word is found",
        arguments: [
            ("Sources/ReactorCore", "let p = UnsafeMutablePointer<Int>.allocate(capacity: 1)"),
            ("Sources/ReactorServer", "final class Box: @unchecked Sendable {}"),
            ("Sources/ReactorClient", "nonisolated(unsafe) var shared = 0"),
            ("Sources/ReactorDaemon", "uv_close(handle, nil)"),
            ("Sources/ReactorWire", "let value = try! decode()"),
            ("Sources/StockReactors", "let value = any as! Int"),
            ("Sources/reactorctl", "print(line)"),
            ("Sources/reactord", "default: fatalError(\"unknown\")"),
            ("Sources/ReactorServer", "let now = ContinuousClock.now"),
            ("Sources/ReactorServer", "Task { await run() }"),
            ("Sources/ReactorServer", "let id = Int.random(in: 0...9)"),
            ("Sources/ReactorClient", "@_exported import ReactorCore"),
            ("Tests/ReactorCoreTests", "try await Task.sleep(for: .seconds(1))"),
            ("Sources/ReactorWire", "let text = \"\\(try! decode())\""),
        ])
    func planted(folder: String, line: String) {
        let file = SourceFile(path: "\(folder)/Planted.swift", text: "import A\n\(line)\n")
        let lines = WordRule.all.flatMap { Self.findings(in: file, rule: $0) }.map(\.line)
        #expect(lines == [2])
    }

    @Test(
        "the same words are allowed in comments, strings, longer words and exempt targets",
        arguments: [
            ("Sources/ReactorCore", "// try! is an UnsafePointer"),
            ("Sources/ReactorCore", "/* a /* nested */ fatalError( */ let a = 1"),
            ("Sources/ReactorCore", "let text = \"print( and try! and @unchecked\""),
            ("Sources/ReactorCore", "let text = #\"a \" quote: fatalError(\"#"),
            ("Sources/ReactorServer", "struct TaskList {}"),
            ("Sources/ReactorCore", "blueprint(of: house)"),
            ("Sources/ReactorWire", "mutating func print(_ value: Int) { printer.print(value) }"),
            ("Sources/ReactorServer", "let word = random()"),
            ("Sources/ReactorLoop", "unsafe uv_close(handle, nil)"),
        ])
    func passed(folder: String, line: String) {
        let file = SourceFile(path: "\(folder)/Planted.swift", text: line)
        #expect(WordRule.all.flatMap { Self.findings(in: file, rule: $0) }.isEmpty)
    }

    @Test("a planted reminder is found, but only in comments")
    func plantedReminder() {
        let file = SourceFile(
            path: "Sources/ReactorCore/Planted.swift",
            text: "let a = \"TODO\"\n/* FIX" + "ME: later */\nlet b = 1 // TO" + "DO\n")
        #expect(Self.reminders(in: file).map(\.line) == [2, 3])
    }
}
