import ReactorBytes
public import ReactorCore
import ReactorThreads

// MARK: - Mirrors
extension ClientMachine {
    /// Mirrors the node at `path`, which is of type `type`; `completion` is called once it shows
    /// the daemon's state. The same path and type give the same mirror while a reference to it
    /// exists.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String, missing: MissingFields = .fail,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        mirror(R.makeForMirror(), at: path, missing: missing, then: completion)
    }

    /// Mirrors the node at `path`, by an instance of its type, for a type whose initialiser needs
    /// arguments.
    public func mirror<R: Reactor>(
        _ reactor: R, at path: String, missing: MissingFields = .fail,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        mirror(reactor, at: path, missing: missing, port: nil, nil, then: completion)
    }

    /// Mirrors the node at `path`, held by `hold`; with a `port`, the mirror sends actions itself.
    package func mirror<R: Reactor>(
        _ reactor: R, at path: String, missing: MissingFields = .fail, port: ActionPort?,
        _ hold: NodeHold?, then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        let path = Self.canonical(path)
        let known = following.value.sink(at: path) { sink in
            (sink as? MirrorSink<R>).flatMap {
                $0.mirror == nil || $0.missing != missing ? nil : $0
            }
        }
        if let known, known.whenReady(completion) { return }
        let replica = Replica(reactor, at: (try? SlicePath(path)) ?? .root)
        let mirror = Mirror<R>(replica, at: path, on: shared, port, hold)
        follow(path, .replica, MirrorSink(replica, mirror, missing, then: completion))
    }

    /// Follows the collection of reactors `R` at `path`, held by `hold`, or a selection of its
    /// children; `completion` is called once they are known. The same path, types and selection give
    /// the same object while a reference to it exists.
    package func collection<Key: ChildKey, R: Reactor>(
        at path: String, selecting selection: Selection? = nil, missing: MissingFields = .fail,
        port: ActionPort?, _ hold: NodeHold?,
        then completion: @escaping (Result<MirrorCollection<Key, R>, ClientError>) -> Void
    ) {
        let path = Self.canonical(path)
        let known = following.value.sink(at: path) { sink in
            (sink as? CollectionSink<Key, R>).flatMap {
                $0.collection == nil || $0.missing != missing || $0.selection != selection
                    ? nil : $0
            }
        }
        if let known, known.whenReady(completion) { return }
        let collection = MirrorCollection<Key, R>(at: path, on: shared, port, hold)
        inquire(path, CollectionSink(collection, missing, selection, then: completion))
    }

    /// Mirrors the value of the slice at `path`, which has the shape of `type`: see
    /// ``Client/mirror(value:at:)``.
    public func mirror<Value: WireCodable & Sendable>(
        value type: Value.Type, at path: String,
        then completion: @escaping (Result<ValueMirror<Value>, ClientError>) -> Void
    ) {
        let path = Self.canonical(path)
        let known = following.value.sink(at: path) { sink in
            (sink as? ValueSink<Value>).flatMap { $0.isReleased ? nil : $0 }
        }
        if let known, known.whenReady(completion) { return }
        follow(path, .value, ValueSink<Value>(at: path, shared, then: completion))
    }

    /// Follows the value at `path` while a reference to the result exists.
    package func followValue(at path: String) -> FollowedValue {
        let feed = WatchFeed {}
        follow(path, .value, WatchSink(0, feed))
        return FollowedValue(feed)
    }

    /// Ends the watch that began under `id`.
    func leave(watch id: UInt64) {
        let sink = following.value.first { ($0 as? WatchSink).flatMap { $0.id == id ? $0 : nil } }
        guard let sink else { return }
        following.value.leave(sink.found)
        carryOutFollowing()
    }

    // MARK: Types

    /// Learns the daemon's types at `path`, a canonical path, for `sink`, which then follows the
    /// slice.
    private func inquire(_ path: String, _ sink: any SliceSink) {
        if let error = link.value.end { return sink.fail(error) }
        following.value.inquire(path, sink)
        carryOutFollowing()
    }

    /// Asks the daemon for the types of the node at `path`.
    func askTypes(_ path: String) {
        ask(.types(path: path)) { [unowned self] result in
            let types = result.mapError(Self.explained).flatMap(Self.types)
            following.value.learn(types, at: path)
            carryOutFollowing()
        }
    }

    private static func explained(_ error: ClientError) -> ClientError {
        if case .refused(let refusal) = error { ClientError(refusal, to: .types) } else { error }
    }

    private static func types(_ bytes: [UInt8]) -> Result<NodeTypes, ClientError> {
        do throws(WireError) {
            return .success(try NodeTypes(wireBytes: bytes))
        } catch {
            return .failure(.daemonFault("types: \(error)"))
        }
    }

    // MARK: Reads that are not stale

    /// Asks the daemon for a state that is as recent as `consistency` demands: see
    /// ``Client/sync(_:within:)``.
    public func sync(
        _ consistency: ReadConsistency, within limit: Duration = .seconds(5),
        then completion: @escaping (Result<Revision, ClientError>) -> Void
    ) {
        let milliseconds = UInt32(clamping: Int64(limit / .milliseconds(1)))
        let question: Question =
            switch consistency {
            case .atLeast(let revision): .sync(atLeast: revision, within: milliseconds)
            case .linearizable: .sync(isCurrent: true, within: milliseconds)
            }
        ask(question) { result in completion(result.flatMap(Self.syncedRevision)) }
    }

    private static func syncedRevision(_ bytes: [UInt8]) -> Result<Revision, ClientError> {
        do throws(WireError) {
            return .success(try Synced(wireBytes: bytes).revision)
        } catch {
            return .failure(.daemonFault("answer: \(error)"))
        }
    }

    // MARK: Comparing

    /// Compares a mirror with the daemon: see ``Mirror/verify()``.
    package func verify<R: Reactor>(
        _ mirror: Mirror<R>, then completion: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        if let error = link.value.end { return completion(.failure(error)) }
        let known = following.value.first { sink in
            (sink as? MirrorSink<R>).flatMap { $0.mirror === mirror ? $0 : nil }
        }
        guard let known else { return completion(.failure(.gone(path: mirror.path))) }
        guard known.subscription.mode == .replica else {
            return completion(.failure(.notComparable(path: known.subscription.path)))
        }
        compare(
            MirrorChecks.Subject(
                subscription: known.subscription, sink: known.found, completion: completion))
    }

    /// Asks the daemon for the checksum of the slice.
    private func compare(_ subject: MirrorChecks.Subject) {
        guard subject.subscription.mode == .replica else {
            return subject.completion(.failure(.notComparable(path: subject.subscription.path)))
        }
        if let error = link.value.end { return subject.completion(.failure(error)) }
        let number = requests.value.nextNumber
        checks.value.begin(number, subject)
        ask(.checksum(path: subject.subscription.path)) { [unowned self] result in
            do {
                try checks.value.receive(number, result.get())
                settleChecks()
            } catch {
                checks.value.cancel(number)
                let error = error as? ClientError ?? .daemonFault("answer: \(error)")
                subject.completion(.failure(error))
            }
        }
    }

    /// Compares the mirrors that can be compared now.
    func settleChecks() {
        let verdicts = checks.value.settle(
            following.value, at: revision, epoch: welcome?.epoch,
            isResyncing: inbound.value.isResyncing)
        for verdict in verdicts { carryOut(verdict) }
    }

    private func carryOut(_ verdict: MirrorChecks.Verdict) {
        switch verdict {
        case .equal(let subject):
            shared.statistics.withLock { $0.verifications += 1 }
            subject.completion(.success(true))
        case .different(let subject):
            shared.statistics.withLock { $0.verifications += 1 }
            // Several comparisons may have found the same difference.
            guard following.value.restart(subject.subscription) else { return }
            shared.statistics.withLock { $0.resynchronisations += 1 }
            carryOutFollowing()
        case .mended(let subject):
            let path = subject.subscription.path
            shared.news.add(.resynchronised(path: path, at: revision))
            subject.completion(.success(false))
        case .askAgain(let subject): compare(subject)
        case .gone(let subject):
            subject.completion(.failure(.gone(path: subject.subscription.path)))
        }
    }
}

// MARK: - Leases
extension ClientMachine {
    /// Leases the child at `path`, a key in a collection whose children are leased; the first lease
    /// makes the child. The client leases it again on each connection, until
    /// ``release(_:)-(LeaseClaim)`` releases the claim or the daemon refuses the lease.
    @discardableResult
    package func lease(
        _ path: String, definesLifecycle: Bool = true,
        then completion: @escaping (Result<Void, ClientError>) -> Void
    ) -> LeaseClaim {
        let slice = link.value.end == nil ? try? SlicePath(path) : nil
        let (claim, orders) = leases.value.claim(
            slice, definesLifecycle: definesLifecycle, then: completion)
        if let orders {
            carryOut(orders)
        } else {
            let text = "\(path) is no path of a child"
            completion(.failure(link.value.end ?? .refused(Refusal(.path, text))))
        }
        return claim
    }

    /// Releases a claim, granted or not; does nothing for a claim that has ended.
    package func release(_ claim: LeaseClaim) { carryOut(leases.value.release(claim)) }

    /// Carries out the orders of ``Leases``, in order.
    func carryOut(_ orders: [Leases.Order]) {
        for order in orders {
            switch order {
            case .ask(let lease): ask(for: lease)
            case .giveBack(let lease):
                submit(to: lease, { .release(key: lease.key) }, then: { _ in })
            case .call(let completion, let result): completion(result)
            case .unfollow(let lease, let error):
                following.value.removeAll(because: error) { lease.covers($0) }
                carryOutFollowing()
            case .follow(let lease):
                guard link.value.isLive else { continue }
                requests.value.sendOpens(to: &outbox.value.queue.writer) { lease.covers($0) }
                following.value.subscribeUnnumbered { lease.covers($0) }
                carryOutFollowing()
                carryOut(leases.value.renew())
            }
        }
    }

    private func ask(for lease: HeldLease) {
        let completion = { [unowned self] (result: Result<ActionOutcome, ClientError>) in
            switch result {
            case .success(let outcome):
                carryOut(leases.value.receive(outcome, of: lease, after: link.value.end))
            case .failure(let error): carryOut(leases.value.end(lease, error))
            }
        }
        submit(to: lease, { lease.request() }, then: completion)
    }

    /// Sends a lease's action to its collection.
    private func submit(
        to lease: HeldLease, _ action: @escaping () -> LeaseAction,
        then completion: @escaping (Result<ActionOutcome, ClientError>) -> Void
    ) {
        hold(lease.collection.description) { [unowned self] result in
            do throws(ClientError) {
                let hold = try result.get()
                try dispatch(action(), to: hold.node) { outcome in
                    hold.keep()
                    completion(.success(outcome))
                }
            } catch {
                completion(.failure(error))
            }
        }
    }
}
