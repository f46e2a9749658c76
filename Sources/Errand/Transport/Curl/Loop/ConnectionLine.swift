#if os(Linux)
  /// The exchanges with one origin whose connections have a limit. Pure.
  ///
  /// libcurl is given those that it may start. It has a line of its own, but walks all of it each time an exchange ends (8.14), or
  /// starts the latest first, so that others wait for ever under load (8.16 to 8.19).
  struct ConnectionLine<Exchange> {
    /// The position of an exchange.
    enum Place: Equatable {
      /// It waits, under this number.
      case waiting(UInt64)
      /// libcurl has it, and looks for a connection.
      case started
      /// It has a connection.
      case connected
    }

    private let limit: Int
    private var waiting: [UInt64: Exchange] = [:]
    private var first: UInt64 = 0
    private var end: UInt64 = 0
    /// The number of exchanges that libcurl has.
    private var started = 0
    /// The number of those that have no connection yet.
    private var searching = 0
    /// The connections carry streams, as many as the server allows; libcurl knows that number.
    var isMultiplexed = false

    /// A line for `limit` connections.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { started == 0 && waiting.isEmpty }

    /// An exchange comes last.
    mutating func join(_ exchange: Exchange) -> Place {
      waiting[end] = exchange
      defer { end += 1 }
      return .waiting(end)
    }

    /// The exchange that libcurl may start, from the first on; nil where that has to wait.
    mutating func start() -> Exchange? {
      guard !waiting.isEmpty, started < limit || isMultiplexed && searching == 0 else { return nil }
      while first < end {
        defer { first += 1 }
        guard let exchange = waiting.removeValue(forKey: first) else { continue }
        started += 1
        searching += 1
        return exchange
      }
      return nil
    }

    /// One that was started has its connection.
    mutating func connected() { searching -= 1 }

    /// One that was in `place` has ended.
    mutating func leave(_ place: Place) {
      switch place {
      case .waiting(let number): waiting[number] = nil
      case .started:
        started -= 1
        searching -= 1
      case .connected: started -= 1
      }
    }
  }
#endif
