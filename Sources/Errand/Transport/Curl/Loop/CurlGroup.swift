#if os(Linux)
  /// The multi handles of one transport on one loop, and the choice of one for a transfer.
  ///
  /// A multi takes at most ``capacity`` transfers, for each that stands still makes the busy ones of the same multi
  /// dearer. The lowest one with room is taken, so that connections are found again. Streams that may last have multis
  /// of their own, and so have uploads that must not share a connection. An origin that speaks HTTP/2 stays in one, for
  /// connections are shared within a multi only.
  final class CurlGroup {
    typealias ID = Int
    static let capacity = 128
    /// The capacity for requests over TLS, which may be HTTP/2: no server should take fewer streams on a connection
    /// (RFC 9113 §6.5.2). For each one more than it takes, libcurl opens a connection.
    static let secureCapacity = 100

    let id: ID
    private(set) var multis: [CurlMulti] = []
    private var homes: [Origin: CurlMulti] = [:]
    /// At how many homes those are looked for that can be forgotten.
    private var homesSweptAt = 64
    /// Nothing is added any more.
    var isClosed = false

    /// The origin of every socket.
    var sockets: [Int32: String] = [:]
    let connectionsPerOrigin: Int
    /// The exchanges of each origin, where its connections have a limit.
    var lines: [String: ConnectionLine<CurlTransfer>] = [:]
    /// Its connections go over a Unix socket.
    let isUnix: Bool

    /// The lifetime of an idle connection, in nanoseconds.
    let idleLifetime: UInt64

    init(id: ID, _ rules: CurlRules) {
      self.id = id
      isUnix = rules.configuration.unixSocket != nil
      connectionsPerOrigin = rules.configuration.connectionsPerOrigin
      idleLifetime = rules.idleLifetime
    }

    /// The connections by the origin that each was opened for.
    func connections(in watch: SocketWatch) -> [String: ConnectionCounts] {
      var counts: [String: ConnectionCounts] = [:]
      for (descriptor, origin) in sockets {
        var count = counts[origin] ?? ConnectionCounts()
        count.open += 1
        switch watch.use(of: descriptor) {
        case .making: count.connecting += 1
        case .exchanges: count.busy += 1
        case .none: break
        }
        counts[origin] = count
      }
      return counts
    }

    var isIdle: Bool { lines.isEmpty && multis.allSatisfy { $0.count == 0 } }

    /// The multi that a transfer goes to; nil when a new one is needed.
    func multi(for transfer: CurlTransfer) -> CurlMulti? {
      // A limit on connections holds within a multi, so that there may only be one.
      if connectionsPerOrigin > 0 { return multis.first }
      let capacity = transfer.mayMultiplex ? Self.secureCapacity : Self.capacity
      let use = CurlMulti.Use(transfer)
      if use != .alone, let home = home(of: transfer.origin), home.count < capacity { return home }
      return multis.first { $0.use == use && $0.count < capacity }
    }

    func adopt(_ multi: CurlMulti) { multis.append(multi) }

    /// The transfer's origin speaks HTTP/2: it stays where its connection is.
    func stick(_ transfer: CurlTransfer) {
      guard let multi = transfer.lastMulti, multi.use != .alone, homes[transfer.origin] == nil else { return }
      settle(transfer.origin, in: multi)
    }

    /// The number of origins that have a home.
    var homeCount: Int { homes.count }

    /// Gives an origin a home, and forgets once in a while those that no connection is open to.
    func settle(_ origin: Origin, in multi: CurlMulti) {
      if homes.count >= homesSweptAt {
        let open = Set(sockets.values)
        homes = homes.filter { open.contains($0.key.description) }
        homesSweptAt = max(64, 2 * homes.count)
      }
      homes[origin] = multi
    }

    /// The home of an origin; nil where it has none.
    func home(of origin: Origin) -> CurlMulti? { homes[origin] }
  }

  /// A transport's part on one of the loops: its connections and handles there.
  struct CurlShard: Sendable {
    let loop: CurlLoop
    let group: CurlGroup.ID
    let pool = CurlHandlePool()

    /// The number of exchanges on a loop past which the next one helps. Fewer find idle connections again.
    static let worthwhile = 16

    init(_ loop: CurlLoop) {
      self.loop = loop
      group = loop.newGroup()
    }
  }

  extension [CurlShard] {
    /// The part that carries an exchange with `origin`.
    ///
    /// A request that may be one of many streams of a connection stays with its origin's, for loops share no connections.
    /// Any other goes to the first that has little to do, then to the one that has least.
    func next(for origin: Origin, mayMultiplex: Bool) -> CurlShard {
      if count == 1 { return self[0] }
      if mayMultiplex { return self[Int(UInt(bitPattern: origin.hashValue) % UInt(count))] }
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
