import Testing

@Suite("The code that @ReactorState generates")
struct ReactorStateMacroTests {
    @Test(
        "F56: each stored variable gets accessors that mark it; constants and other members do not")
    func fields() {
        expectExpansion(
            """
            @ReactorState
            struct State {
                var count = 0
                let limit: Int
                static var shared = 1
                var half: Int { count / 2 }
            }
            """,
            expandedState)
    }

    @Test("F57, F59: an ignored field is marked separately, and a pulse has its own count")
    func markers() {
        let expanded = expansion(
            of: """
                @ReactorState
                struct State {
                    @Ignored var noise: Int = 0
                    @Pulse var alert: String? = nil
                    @NotTransmitted var cache: [Int] = []
                }
                """)
        for line in [
            "drain.noteIgnored(0, \"noise\", &self._noise)",
            "drain.note(1, \"alert\", &self._alert)",
            "drain.note(2, \"cache\", &self._cache)",
            "TrackedField(0, \"noise\", \\Self.noise, isIgnored: true),",
            "TrackedField(1, \"alert\", \\Self.$alert),",
            "_marks.mark(2)",
        ] {
            #expect(expanded.contains(line), "\(line)")
        }
        #expect(!expanded.contains("_marks.mark(1)"))
        #expect(!expanded.contains("private var _alert"))
    }

    @Test("a public state's accessors are inlinable, and the members they use are visible")
    func access() {
        let expanded = expansion(
            of: """
                @ReactorState
                public struct State {
                    public var count = 0
                }
                """)
        for line in [
            "@usableFromInline var _count = 0", "@usableFromInline var _marks = StateMarks()",
            "@inlinable get",
            "public mutating func drainChanges(as part: StatePart) -> StateChanges",
            "public static var trackedFields: [TrackedField<Self>]",
        ] {
            #expect(expanded.contains(line), "\(line)")
        }
    }

    @Test("a public state with a pulse has no inlinable accessors, whose members would be hidden")
    func accessWithPulse() {
        let expanded = expansion(
            of: """
                @ReactorState
                public struct State {
                    public var count = 0
                    @Pulse public var alert: String? = nil
                }
                """)
        for line in ["private var _count = 0", "var _marks = StateMarks()", "_marks.mark(0)"] {
            #expect(expanded.contains(line), "\(line)")
        }
        #expect(!expanded.contains("@inlinable") && !expanded.contains("@usableFromInline"))
    }

    @Test("a type that is not a struct is refused")
    func notAState() {
        expectDiagnostics(
            """
            @ReactorState
            enum State { case empty }
            """,
            told(2, 1, "@ReactorState works on a struct: a state is a value"))
    }

    @Test("F57: a field that is not transmitted needs a default for readers")
    func notTransmitted() {
        expectDiagnostics(
            """
            @WireCodable
            struct State {
                @NotTransmitted var cache: [Int]
            }
            """,
            told(
                3, 25,
                "cache is not encoded, so decoding needs a value for it; give it "
                    + "one: cache: [Int] = ..."))
        expectDiagnostics(
            """
            struct State {
                @NotTransmitted static var cache = 0
            }
            """,
            told(2, 5, "@NotTransmitted applies to a stored property of a struct"))
    }

    @Test(
        "F57, F59: @WireCodable leaves out untransmitted fields, and encodes a pulse with its count"
    )
    func coding() {
        let expanded = expansion(
            of: """
                @WireCodable
                struct State {
                    @NotTransmitted var cache: [Int] = []
                    @Ignored var noise = 0
                    @Pulse var alert: String? = nil
                }
                """)
        #expect(expanded.contains("typealias _WireValues = (Int, Pulse<String?>)"))
        #expect(expanded.contains("self._alert.encode(into: &writer)"))
        #expect(expanded.contains("self._alert = values.1"))
        #expect(expanded.contains("Pulse(wrappedValue: nil)"))
        #expect(!expanded.contains("self.cache"))
    }
}

// MARK: - Expansions
private let expandedState = """
    struct State {
        var count {
            @storageRestrictions(initializes: _count)
            init(initialValue) {
                _count = initialValue
            }
            get {
                _count
            }
            set {
                if StateMarks.differ(_count, newValue) { _marks.mark(0) }
                _count = newValue
            }
            _modify {
                _marks.mark(0)
                yield &_count
            }
        }

        private var _count = 0
        let limit: Int
        static var shared = 1
        var half: Int { count / 2 }

        var _marks = StateMarks()

        mutating func drainChanges(as part: StatePart) -> StateChanges {
            var drain = StateDrain(&self._marks, as: part)
            drain.note(0, "count", &self._count)
            return drain.changes
        }

        static var trackedFields: [TrackedField<Self>] {
            [
                TrackedField(0, "count", \\Self.count),
            ]
        }
    }

    extension State: TrackedState {
    }
    """
