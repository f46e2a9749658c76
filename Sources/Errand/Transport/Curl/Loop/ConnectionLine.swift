#if os(Linux)
  /// The queue of exchanges with an origin that has a connection limit.
  ///
  /// libcurl receives only exchanges that may start now. Its own queue would be scanned completely each time an
  /// exchange ends (8.14), or would start the newest exchange first, so that older ones wait forever under load (8.16
  /// to 8.19).
  struct ConnectionLine<Exchange> {
    enum Place: Equatable {
      case waiting(UInt64)
      /// The exchange was passed to libcurl, which is looking for a connection.
      case started
      case connected
    }

    private let limit: Int
    private var waiting: [UInt64: Exchange] = [:]
    private var first: UInt64 = 0
    private var end: UInt64 = 0
    private var started = 0
    /// The number of started exchanges without a connection.
    private var searching = 0
    /// Whether the connections use HTTP/2 or later. libcurl then enforces the server's stream limit.
    var isMultiplexed = false

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { started == 0 && waiting.isEmpty }

    mutating func join(_ exchange: Exchange) -> Place {
      waiting[end] = exchange
      defer { end += 1 }
      return .waiting(end)
    }

    /// Removes and returns the next exchange, or returns `nil` if libcurl must not start one yet.
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

    mutating func connected() { searching -= 1 }

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
