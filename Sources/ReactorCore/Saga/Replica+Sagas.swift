import ReactorBytes

extension Replica {
    /// The mutations that the next ``commit()`` applies, for the sagas that follow the replica.
    package var stagedMutations: [R.Mutation] { staged.value }
}
