/// The shape of a wire type: what `describe` sends, what tools check JSON against, and what the
/// fingerprint of a reactor is taken of.
public indirect enum WireSchema: Equatable, Sendable {
    case bool
    /// An integer within `min...max` (`min` is not above zero).
    case integer(min: Int64, max: UInt64)
    case float
    case text
    case bytes
    /// Any value at all.
    case any
    /// Seconds, as a number.
    case duration
    case optional(WireSchema)
    case array(WireSchema)
    /// A map from text keys to values of one type.
    case map(WireSchema)
    case record(Record)
    case choice(Choice)
    /// A type that stands inside itself, by the name of the enclosing record or choice.
    case reference(String)

    /// A struct: a map with known keys.
    public struct Record: Equatable, Sendable {
        /// Name of the type.
        public var name: String
        /// What the type is for; empty if nobody wrote it.
        public var doc: String
        /// Its fields, in the order of their declaration.
        public var fields: [Field]

        /// Describes a struct.
        public init(name: String, doc: String = "", fields: [Field]) {
            self.name = name
            self.doc = doc
            self.fields = fields
        }
    }

    /// A field of a record, or a labelled associated value of a case.
    public struct Field: Equatable, Sendable {
        /// Its name on the wire.
        public var name: String
        /// Its type.
        public var schema: WireSchema
        /// Whether the field may be absent: it has a default.
        public var isOptional: Bool
        /// What it is for; empty if nobody wrote it.
        public var doc: String
        /// Other names under which it is read.
        public var aliases: [String]

        /// Describes a field.
        public init(
            name: String, schema: WireSchema, isOptional: Bool = false, doc: String = "",
            aliases: [String] = []
        ) {
            self.name = name
            self.schema = schema
            self.isOptional = isOptional
            self.doc = doc
            self.aliases = aliases
        }
    }

    /// An enum: a map with one key, the name of the case.
    public struct Choice: Equatable, Sendable {
        /// Name of the type.
        public var name: String
        /// What the type is for; empty if nobody wrote it.
        public var doc: String
        /// Its cases, in the order of their declaration.
        public var cases: [Case]

        /// Describes an enum.
        public init(name: String, doc: String = "", cases: [Case]) {
            self.name = name
            self.doc = doc
            self.cases = cases
        }
    }

    /// One case of a choice with the form of its payload.
    public struct Case: Equatable, Sendable {
        /// Its name on the wire.
        public var name: String
        /// The form of what it holds.
        public var payload: Payload
        /// What it is for; empty if nobody wrote it.
        public var doc: String
        /// Other names under which it is read.
        public var aliases: [String]

        /// Describes a case.
        public init(
            name: String, payload: Payload, doc: String = "", aliases: [String] = []
        ) {
            self.name = name
            self.payload = payload
            self.doc = doc
            self.aliases = aliases
        }
    }

    /// The forms that a case's values have on the wire.
    public enum Payload: Equatable, Sendable {
        /// `{"reset":{}}`, or `"reset"` alone.
        case none
        /// `{"add":5}`: one value without a label.
        case single(WireSchema)
        /// `{"move":[1,2]}`: several values without labels.
        case tuple([WireSchema])
        /// `{"increment":{"by":5}}`: labelled values.
        case record([Field])
    }
}
