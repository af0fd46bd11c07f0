extension WireSchema {
    /// Whether a value of this shape may have something at `path`, now or later.
    ///
    /// A key of a map may, and so may anything inside a value of any shape; an element of an array
    /// may where the component is an index. What only the type knows, a schema cannot say: that a
    /// map's keys are numbers, that a set has no places. There it answers yes.
    ///
    /// *Place*: asked before a slice is granted, because looking for the value itself would encode
    /// it. *Cost*: O(components), whatever the value's size.
    public func allows(_ path: ArraySlice<WireKey>) -> Bool {
        var walk = PathWalk(schema: self, rest: path)
        while let component = walk.rest.first {
            if let answer = walk.step(component) { return answer }
        }
        return true
    }
}

/// A walk along a path, from the schema of the whole value to that of a part.
private struct PathWalk {
    var schema: WireSchema
    var rest: ArraySlice<WireKey>
    /// The records and choices around the place, outermost first.
    private var enclosing: [(name: String, schema: WireSchema)] = []

    init(schema: WireSchema, rest: ArraySlice<WireKey>) {
        self.schema = schema
        self.rest = rest
    }

    /// Goes on to what `component` names, or says whether the whole path is possible.
    mutating func step(_ component: WireKey) -> Bool? {
        switch schema {
        case .any: return true
        case .bool, .integer, .float, .text, .duration: return false
        case .optional(let wrapped):
            schema = wrapped
            return nil
        case .reference(let name):
            // because a name that nothing around has says nothing about what is there
            guard let outer = enclosing.last(where: { $0.name == name }) else { return true }
            schema = outer.schema
            return nil
        case .map(let value): return enter(value)
        case .array(let element): return component.arrayIndex == nil ? false : enter(element)
        case .bytes:
            return component.arrayIndex == nil ? false : enter(.integer(min: 0, max: 255))
        case .record(let record):
            enclosing.append((record.name, schema))
            return enter(component, of: record.fields)
        case .choice(let choice):
            enclosing.append((choice.name, schema))
            guard let item = choice.cases.first(where: { WireKey($0.name) == component }) else {
                return false
            }
            return enter(item.payload)
        }
    }

    private mutating func enter(_ part: WireSchema) -> Bool? {
        schema = part
        rest = rest.dropFirst()
        return nil
    }

    private mutating func enter(_ name: WireKey, of fields: [WireSchema.Field]) -> Bool? {
        guard let field = fields.first(where: { WireKey($0.name) == name }) else { return false }
        return enter(field.schema)
    }

    /// Goes on to a part of a case's payload: a value without a label stands right below the case,
    /// others below their place or label.
    private mutating func enter(_ payload: WireSchema.Payload) -> Bool? {
        if case .single(let schema) = payload { return enter(schema) }
        rest = rest.dropFirst()
        guard let component = rest.first else { return true }
        switch payload {
        case .tuple(let schemas):
            guard let index = component.arrayIndex, index < schemas.count else { return false }
            return enter(schemas[index])
        case .record(let fields): return enter(component, of: fields)
        case .none, .single: return false
        }
    }
}
