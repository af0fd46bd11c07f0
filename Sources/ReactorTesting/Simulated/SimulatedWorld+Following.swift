package import ReactorBytes
package import ReactorServer

// MARK: - One of several worlds, whose servers follow one of them
extension SimulatedWorld {
    /// Starts a world of the server that `serve` makes, which is daemon `node` of a cluster; `serve`
    /// gets the source of session secrets. A caller passes the rows of the leading server on. Worlds
    /// with one `timeline` run together.
    package convenience init(
        seed: UInt64, node: UInt8, weather: SimulatedWeather,
        faults: (any SimulatedFaults)? = nil, timeline: Timeline = Timeline(),
        _ serve: (@escaping () -> UInt64) -> Server
    ) {
        let secrets = SecretSource(seed: ~seed)
        self.init(
            seed: seed, serve { secrets.next() }, secrets, effects: nil, isCalm: false,
            weather: weather, faults: faults, journal: nil, node: node, timeline: timeline)
        dueTurn()
    }

    /// Applies a row of the leading server, and ends the turn. Calls `look` when the row is applied.
    package func follow(_ row: Batch, _ look: () -> Void) throws(FollowError) {
        try server.follow(row, at: timeline.now)
        look()
        server.endTurn(at: timeline.now)
        noteServer()
    }

    /// Ends the server's turn, and carries out what it orders.
    package func endTurn() {
        server.endTurn(at: timeline.now)
        noteServer()
    }

    /// Ends the server's turn soon.
    package func turnSoon() { dueTurn() }

    /// Reports to the server that the batches up to `turn` are appended.
    package func appended(_ turn: UInt64) {
        server.appended(turn, at: timeline.now)
        noteServer()
    }

    /// Promotes the server.
    package func lead(in term: UInt64) throws {
        try server.lead(in: term, at: timeline.now)
        dueTurn()
    }

    /// Breaks all connections, and continues with the server that `serve` makes.
    package func replaceServer(_ serve: (@escaping () -> UInt64) -> Server) {
        loseLinks()
        goOn(with: serve { [secrets] in secrets.next() })
        dueTurn()
    }

    /// Breaks the connection of a client, if it has one.
    package func cut(_ client: SimulatedClient) {
        guard let link = client.link else { return }
        reset(link, client)
    }
}
