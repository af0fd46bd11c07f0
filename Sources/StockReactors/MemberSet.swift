public import ReactorCore

/// Names, each at most once, in ascending order of their bytes: the kind `set`.
///
/// Rejections: `full` beyond the capacity, `too_long` for a member of more than 1,024 bytes.
@Reactor
public struct MemberSet {
    /// Maximum capacity of a set.
    public static let capacityMax = 1_000_000
    /// Default capacity of a set.
    public static let capacityDefault = 100_000
    /// Maximum length of a member, in bytes of UTF-8.
    public static let memberBytesMax = 1_024

    /// Maximum number of members.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = MemberSet.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "set: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// The actions of a set.
    public enum Action: Equatable, Sendable {
        /// Adds `member`, if it is missing.
        case insert(member: WireKey)
        /// Removes `member`, if it is there.
        case remove(member: WireKey)
    }

    /// The mutations of a set.
    public enum Mutation: Equatable, Sendable {
        /// Adds `member`.
        case inserted(member: WireKey)
        /// Removes `member`.
        case removed(member: WireKey)
    }

    /// The state of a set.
    public struct State: Equatable, Sendable {
        /// The members in ascending order of their bytes, each once.
        public var members: [WireKey] = []

        /// An empty set.
        public init() {}
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .insert(let member):
            let byteCount = member.text.utf8.count
            guard byteCount <= Self.memberBytesMax else {
                throw Rejection(
                    "too_long",
                    "a member of \(byteCount) bytes, at most \(Self.memberBytesMax) fit")
            }
            if state.place(of: member).isThere { return .none }
            guard state.members.count < capacity else {
                throw Rejection("full", "the set holds its \(capacity) members: remove some first")
            }
            return Mutations(.inserted(member: member))
        case .remove(let member):
            return state.place(of: member).isThere ? Mutations(.removed(member: member)) : .none
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .inserted(let member):
            let place = state.place(of: member)
            if !place.isThere { state.members.insert(member, at: place.index) }
        case .removed(let member):
            let place = state.place(of: member)
            if place.isThere { state.members.remove(at: place.index) }
        }
    }
}

extension MemberSet.State {
    /// The index of `member`, or the index to insert it.
    fileprivate func place(of member: WireKey) -> (index: Int, isThere: Bool) {
        var range = members.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            // Users expect "apple" before "fig", unlike in the order of encoded keys.
            if members[middle].text.utf8.lexicographicallyPrecedes(member.text.utf8) {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        let index = range.lowerBound
        return (index, index < members.count && members[index] == member)
    }
}
