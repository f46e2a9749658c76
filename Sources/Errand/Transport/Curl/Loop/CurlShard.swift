#if os(Linux)
  /// A transport's part on one of the loops: its connections and handles there.
  struct CurlShard: Sendable {
    let loop: CurlLoop
    let group: CurlGroup.ID
    let pool = CurlHandlePool()

    /// How many exchanges one loop carries before the next is asked to help. Fewer find idle connections again.
    static let worthwhile = 16

    init(_ loop: CurlLoop) {
      self.loop = loop
      group = loop.newGroup()
    }
  }

  extension [CurlShard] {
    /// The part that carries an exchange with `origin`.
    ///
    /// What may be one of many streams of a connection stays with its origin's, for loops share no connections. Anything
    /// else goes to the first that has little to do, then to the one that has least.
    func next(for origin: Origin, mayBeStream: Bool) -> CurlShard {
      if count == 1 { return self[0] }
      if mayBeStream { return self[Int(UInt(bitPattern: origin.hashValue) % UInt(count))] }
      var best = 0
      var least = Int.max
      for index in indices {
        let busy = self[index].pool.busy
        if busy < CurlShard.worthwhile { return self[index] }
        if busy < least { (best, least) = (index, busy) }
      }
      return self[best]
    }
  }
#endif
