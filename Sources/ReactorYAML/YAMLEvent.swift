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
