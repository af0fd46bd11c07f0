import ReactorBytes

extension Replica {
    /// The mutations that the next ``commit()`` applies, for sagas that follow the replica.
    package var stagedMutations: [R.Mutation] { staged.value }
}
