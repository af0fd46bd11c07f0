import CLibYAML

/// Parses a text into events, through libyaml.
///
/// *Owner*: one thread. *C*: `yaml_parser_t`.
@safe
final class YAMLParser {
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    /// The text; the parser reads it step by step.
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Creates a parser at the start of `text`. *C*: `yaml_parser_initialize`.
    init(_ text: String) throws(YAMLError) {
        let utf8 = text.utf8
        unsafe input = .allocate(capacity: utf8.count)
        _ = unsafe input.initialize(from: utf8)
        // A parser whose initialization failed is all zeros and may be deleted.
        guard unsafe yaml_parser_initialize(parser) == 1 else { throw .memory }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// Returns the next event; after the end of the stream, returns that again. *C*:
    /// `yaml_parser_parse`.
    func next() throws(YAMLError) -> YAMLEvent {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
            defer { unsafe yaml_event_delete(&event) }
            if let kind = unsafe Self.kind(of: event) {
                return YAMLEvent(mark: unsafe YAMLMark(event.start_mark), kind: kind)
            }
        }
    }

    /// Returns nil for the start of the stream, which has no content.
    private static func kind(of event: yaml_event_t) -> YAMLEvent.Kind? {
        switch unsafe event.type {
        case YAML_STREAM_START_EVENT: return nil
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_ALIAS_EVENT:
            return .alias(unsafe text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let data = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: data.value, count: data.length)
            let scalar = YAMLScalar(
                text: unsafe String(decoding: bytes, as: UTF8.self),
                isPlain: unsafe data.style == YAML_PLAIN_SCALAR_STYLE)
            let tag = unsafe data.quoted_implicit == 1 ? YAMLTag.text : text(data.tag) ?? ""
            return .scalar(scalar, tag: tag, anchor: unsafe text(data.anchor))
        case YAML_SEQUENCE_START_EVENT:
            let data = unsafe event.data.sequence_start
            let tag = unsafe data.implicit != 0 ? nil : text(data.tag)
            return .sequenceStart(tag: tag ?? "", anchor: unsafe text(data.anchor))
        case YAML_MAPPING_START_EVENT:
            let data = unsafe event.data.mapping_start
            let tag = unsafe data.implicit != 0 ? nil : text(data.tag)
            return .mappingStart(tag: tag ?? "", anchor: unsafe text(data.anchor))
        case YAML_DOCUMENT_END_EVENT, YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end
        // After the end of the stream the parser returns zeros.
        default: return .streamEnd
        }
    }

    private func failure() -> YAMLError {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? ""
        switch unsafe parser.pointee.error {
        case YAML_MEMORY_ERROR: return .memory
        case YAML_READER_ERROR:
            return .character(
                problem: problem, byteOffset: unsafe parser.pointee.problem_offset,
                value: Int(unsafe parser.pointee.problem_value))
        default:
            let context = unsafe parser.pointee.context.map { words in
                unsafe YAMLContext(
                    text: String(cString: words), mark: YAMLMark(parser.pointee.context_mark))
            }
            return .syntax(
                problem: problem, context: context,
                mark: unsafe YAMLMark(parser.pointee.problem_mark))
        }
    }

    private static func text(_ words: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe words.map { unsafe String(cString: $0) }
    }
}

extension YAMLMark {
    /// libyaml counts from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

/// One event of the parser.
///
/// *Place*: ``YAMLParser`` produces them in order, ``YAMLComposer`` builds nodes from them.
struct YAMLEvent {
    /// The place of its beginning.
    let mark: YAMLMark
    let kind: Kind

    /// The kind of an event. A tag is empty if the text has none.
    enum Kind {
        case documentStart
        case alias(String)
        case scalar(YAMLScalar, tag: String, anchor: String?)
        case sequenceStart(tag: String, anchor: String?)
        case mappingStart(tag: String, anchor: String?)
        /// The end of a sequence, a mapping or a document.
        case end
        case streamEnd
    }
}
