// because an author imports one module: the wire's types are part of what a reactor is made of
@_exported public import ReactorWire
