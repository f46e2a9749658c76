#if os(Linux)
  /// A transport's multi handles on one loop. The group chooses the multi for each transfer.
  ///
  /// A multi holds at most ``capacity`` transfers, because every idle transfer makes the active ones in its multi more
  /// expensive. The first multi with room is used, so that connections are reused. Long-lived streams have separate
  /// multis, as do uploads that must not share a connection. An HTTP/2 origin stays in one multi, because connections
  /// are only shared within a multi.
  final class CurlGroup {
    typealias ID = Int
    static let capacity = 128
    /// The capacity for requests that may use HTTP/2. Servers should allow at least this many streams on a connection
    /// (RFC 9113 §6.5.2). libcurl opens a new connection for each stream above the server's limit.
    static let secureCapacity = 100

    let id: ID
    private(set) var multis: [CurlMulti] = []
    private var homes: [Origin: CurlMulti] = [:]
    private var homesSweptAt = 64
    var isClosed = false

    var sockets: [Int32: String] = [:]
    let connectionsPerOrigin: Int
    var lines: [String: ConnectionLine<CurlTransfer>] = [:]
    let isUnix: Bool

    /// The lifetime of an idle connection, in nanoseconds.
    let idleLifetime: UInt64

    init(id: ID, _ rules: CurlRules) {
      self.id = id
      isUnix = rules.configuration.unixSocket != nil
      connectionsPerOrigin = rules.configuration.connectionsPerOrigin
      idleLifetime = rules.idleLifetime
    }

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

    /// Returns the multi for a transfer, or `nil` if a new one is needed.
    func multi(for transfer: CurlTransfer) -> CurlMulti? {
      // Each multi enforces the connection limit separately, so a group with a limit has only one.
      if connectionsPerOrigin > 0 { return multis.first }
      let capacity = transfer.mayMultiplex ? Self.secureCapacity : Self.capacity
      let use = CurlMulti.Use(transfer)
      if use != .alone, let home = home(of: transfer.origin), home.count < capacity { return home }
      return multis.first { $0.use == use && $0.count < capacity }
    }

    func adopt(_ multi: CurlMulti) { multis.append(multi) }

    /// Assigns the transfer's origin, which uses HTTP/2, to the multi that has its connection.
    func stick(_ transfer: CurlTransfer) {
      guard let multi = transfer.lastMulti, multi.use != .alone, homes[transfer.origin] == nil else { return }
      settle(transfer.origin, in: multi)
    }

    var homeCount: Int { homes.count }

    /// Assigns an origin to a multi. Occasionally removes origins without open connections.
    func settle(_ origin: Origin, in multi: CurlMulti) {
      if homes.count >= homesSweptAt {
        let open = Set(sockets.values)
        homes = homes.filter { open.contains($0.key.description) }
        homesSweptAt = max(64, 2 * homes.count)
      }
      homes[origin] = multi
    }

    func home(of origin: Origin) -> CurlMulti? { homes[origin] }
  }

  /// A transport's share of a loop: its connections and handles on that loop.
  struct CurlShard: Sendable {
    let loop: CurlLoop
    let group: CurlGroup.ID
    let pool = CurlHandlePool()

    /// The number of exchanges at which a loop counts as busy. Below it, the loop is preferred, so that its idle
    /// connections are reused.
    static let worthwhile = 16

    init(_ loop: CurlLoop) {
      self.loop = loop
      group = loop.newGroup()
    }
  }

  extension [CurlShard] {
    /// Returns the shard for an exchange with `origin`. Requests that can share a connection use the shard of their
    /// origin, because loops don't share connections. Any other request uses the first shard that is not busy, or the
    /// least busy one if all are busy.
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
