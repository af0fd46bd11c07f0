/// Operations without I/O.
struct InProcess {
    let bench: Bench

    func rows() throws -> [Row] {
        let rounds = try Rounds(
            bench.effort.rounds,
            [("ours", { try bench.load(["local", "--socket", bench.daemon.socket]) })])
        func row(
            _ measure: String, _ unit: Row.Unit, _ result: String, _ target: Row.Target?
        ) throws -> Row {
            Row(
                measure: measure, placement: bench.placement.rawValue, unit: unit,
                ours: try rounds.median("ours.\(result)"), peer: nil, against: "",
                target: target)
        }
        return [
            try row("reading a mirror's state", .nanoseconds, "read", .under(50)),
            try row("Store dispatch", .nanoseconds, "store", nil),
            try row("Store dispatch, one middleware", .nanoseconds, "middleware", nil),
            try row("Store dispatch, middleware removed", .nanoseconds, "after", nil),
            try row("Store dispatch, one saga", .nanoseconds, "saga", nil),
            try row("Store dispatch, saga ended", .nanoseconds, "sagaEnded", nil),
            try row("Store dispatch, one observer", .nanoseconds, "observer", nil),
            try row("Store dispatch, observer removed", .nanoseconds, "unobserved", nil),
            try row("Store dispatch, allocations", .count, "allocations", nil),
        ]
    }
}
