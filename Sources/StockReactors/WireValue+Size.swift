import ReactorCore

extension WireValue {
    /// Throws a rejection if the encoded value is larger than `bytesMax`.
    func check(bytesMax: Int, _ what: @autoclosure () -> String) throws(Rejection) {
        var left = bytesMax
        countDown(&left)
        guard left >= 0 else {
            throw Rejection(
                "too_large", "\(what()) has more than \(bytesMax) bytes: keep large data elsewhere")
        }
    }

    /// Subtracts the minimum size of the encoded value from `left`; stops below zero.
    private func countDown(_ left: inout Int) {
        left -= 1
        switch self {
        case .null, .bool, .integer, .float: break
        case .bytes(let bytes): left -= bytes.count
        case .text(let text): left -= text.utf8.count
        case .array(let elements):
            for element in elements where left >= 0 { element.countDown(&left) }
        case .map(let map):
            for pair in map where left >= 0 {
                left -= 1 + pair.key.text.utf8.count
                pair.value.countDown(&left)
            }
        }
    }
}
