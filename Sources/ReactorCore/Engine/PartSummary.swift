/// A value that sums up the parts of children, and for which the value alone is not enough to take
/// a part back.
///
/// *Place*: a ``SummaryRun`` adds the parts of new children, and removes those of gone ones.
protocol PartSummary<Part> {
    associatedtype Part: Equatable
    associatedtype Value

    mutating func add(_ part: Part)

    /// Takes a part back that was added.
    mutating func remove(_ part: Part)

    /// The value of all `parts`, which are those that were added and not removed.
    mutating func value(of parts: some Collection<Part>) -> Value
}

/// The sum of floating-point numbers without rounding, so that neither the order of the numbers nor
/// the removed ones influence it.
///
/// *Cost*: O(1) to add and remove; a fixed 4,352 bits.
struct ExactSum<Part: BinaryFloatingPoint>: PartSummary {
    // The finite numbers of `Double` are multiples of 2⁻¹⁰⁷⁴ below 2¹⁰²⁴, so 66 digits hold each,
    // and two more the sum of as many as a tree can have.
    private static var digitCount: Int { 68 }
    /// Digits to the base 2³², the lowest first, in units of 2⁻¹⁰⁷⁴. A digit is the sum of those of
    /// all numbers, so it may be negative or exceed the base.
    private var digits = [Int64](repeating: 0, count: digitCount)
    private var infinities = 0
    private var negativeInfinities = 0
    private var notANumbers = 0

    mutating func add(_ part: Part) { count(Double(part), 1) }

    mutating func remove(_ part: Part) { count(Double(part), -1) }

    func value(of parts: some Collection<Part>) -> Part { Part(rounded) }

    private mutating func count(_ number: Double, _ times: Int) {
        if number.isNaN {
            notANumbers += times
            return
        }
        if number == .infinity {
            infinities += times
            return
        }
        if number == -.infinity {
            negativeInfinities += times
            return
        }
        let isSubnormal = number.exponentBitPattern == 0
        let significand = number.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
        let shift = isSubnormal ? 0 : Int(number.exponentBitPattern) - 1
        let wide = UInt128(significand) << UInt128(shift % 32)
        let sign: Int64 = number.sign == .minus ? -Int64(times) : Int64(times)
        for index in 0..<3 {
            let digit = Int64(truncatingIfNeeded: (wide >> UInt128(32 * index)) & 0xffff_ffff)
            digits[shift / 32 + index] += sign * digit
        }
    }

    /// The sum, rounded once.
    private var rounded: Double {
        if notANumbers > 0 || infinities > 0 && negativeInfinities > 0 { return .nan }
        if infinities > 0 { return .infinity }
        if negativeInfinities > 0 { return -.infinity }
        return magnitude(1) ?? magnitude(-1).map { -$0 } ?? 0
    }

    /// The sum times `sign`, if that is not negative.
    private func magnitude(_ sign: Int64) -> Double? {
        var carry: Int64 = 0
        let carried = digits.map { digit in
            let sum = sign * digit + carry
            carry = sum >> 32
            return UInt64(sum & 0xffff_ffff)
        }
        if carry < 0 { return nil }
        guard let top = carried.lastIndex(where: { $0 > 0 }) else { return 0 }
        var significand: UInt128 = 0
        for index in (top - 2...top).reversed() {
            significand = significand << 32 | UInt128(index < 0 ? 0 : carried[index])
        }
        // The top 64 bits, with the lowest set if any bit below them is, round as the whole does.
        let excess = max(0, 64 - significand.leadingZeroBitCount)
        let lost = (UInt128(1) << UInt128(excess)) - 1
        let isInexact =
            significand & lost != 0
            || carried.prefix(max(0, top - 2)).contains { $0 > 0 }
        let bits = UInt64(significand >> UInt128(excess)) | (isInexact ? 1 : 0)
        return Double(
            sign: .plus, exponent: (top - 2) * 32 + excess - 1_074, significand: Double(bits))
    }
}

/// The part that precedes all others in an order, and how many children have it.
struct ExtremePart<Part: Equatable>: PartSummary {
    private let precedes: (Part, Part) -> Bool
    private var extreme: Part?
    /// Number of parts that equal the extreme one; 0 if it has to be searched.
    private var count = 0

    init(by precedes: @escaping (Part, Part) -> Bool) { self.precedes = precedes }

    mutating func add(_ part: Part) {
        guard count > 0, let extreme else { return }
        if part == extreme {
            count += 1
        } else if precedes(part, extreme) {
            (self.extreme, count) = (part, 1)
        }
    }

    mutating func remove(_ part: Part) {
        if count > 0, part == extreme { count -= 1 }
    }

    mutating func value(of parts: some Collection<Part>) -> Part? {
        if count > 0 { return extreme }
        extreme = parts.min(by: precedes)
        count = extreme.map { extreme in parts.count { $0 == extreme } } ?? 0
        return extreme
    }
}

/// A value that a summary computes from the parts of a collection's children.
///
/// *Invariant*: the summary includes exactly the ``parts``.
final class SummaryRun<Summary: PartSummary>: DerivationRun<Summary.Value> {
    private let collection: AnyNode
    private let empty: Summary
    private let part: (AnyNode) -> Summary.Part?
    private var summary: Summary
    /// The parts that the summary includes, by child.
    private var parts: [ObjectIdentifier: Summary.Part] = [:]

    init(
        over collection: AnyNode, _ empty: Summary, part: @escaping (AnyNode) -> Summary.Part?
    ) {
        self.collection = collection
        self.empty = empty
        self.part = part
        summary = empty
        super.init(of: [collection])
    }

    override func source(of child: AnyNode) -> AnyNode? { child }

    override func isPart(_ node: AnyNode) -> Bool { node.parent === collection }

    override func begin() -> Summary.Value {
        parts.removeAll()
        summary = empty
        for child in collection.children.values { include(part(child), of: child) }
        return summary.value(of: parts.values)
    }

    override func update(_ value: inout Summary.Value, _ changed: [AnyNode], _ undo: UndoLog) {
        if undo.isRecording {
            let before = summary
            undo.add { [self] in summary = before }
        }
        for child in changed {
            let old = parts[ObjectIdentifier(child)]
            include(child.isGone ? nil : part(child), of: child)
            if undo.isRecording {
                undo.add { [self] in parts[ObjectIdentifier(child)] = old }
            }
        }
        value = summary.value(of: parts.values)
    }

    private func include(_ new: Summary.Part?, of child: AnyNode) {
        let old = parts[ObjectIdentifier(child)]
        if old == new { return }
        if let old { summary.remove(old) }
        if let new { summary.add(new) }
        parts[ObjectIdentifier(child)] = new
    }
}
