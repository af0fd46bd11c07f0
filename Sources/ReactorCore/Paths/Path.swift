/// The slice path of a key path through reactors, spelled at compile time.
///
///     #path(\App.shop.cart)                     // /shop/cart
///     #path(\App.shop.$rooms).appending("a")    // /shop/rooms/a
///     #path(\App.shop, \.address.city)          // /shop/address/city
///
/// A child's path component is the name of its property. The compiler checks that the property
/// exists and leads to a reactor, but not that it is marked as a child. A name that begins with a
/// capital letter is taken for a type that encloses the reactor.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor>(_ reactor: KeyPath<Root, R>) -> SlicePath =
    #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a child, given by its handle.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor>(_ child: KeyPath<Root, ChildHandle<R>>) -> SlicePath =
    #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a collection of children.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor>(
    _ children: KeyPath<Root, KeyedHandle<R>>
) -> SlicePath = #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a part of a reactor's state.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor, Part>(
    _ reactor: KeyPath<Root, R>, _ part: KeyPath<R.State, Part>
) -> SlicePath = #externalMacro(module: "ReactorMacros", type: "PathMacro")
