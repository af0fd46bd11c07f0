// Re-exported, so that an author imports one module: reactors are made of the wire's types.
@_exported public import ReactorWire
