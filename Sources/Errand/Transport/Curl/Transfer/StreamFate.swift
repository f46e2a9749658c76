#if os(Linux)
  /// What is known of an HTTP/2 stream that a request was sent on.
  struct StreamFate {
    let id: UInt32
    /// This side's port of the connection, by which those of one origin are told apart; 0 where there is none.
    let port: Int32
    /// Whether the server has said that it did nothing with it (RFC 9113 §6.8, §8.7).
    var isRefused = false
    /// Whether the server has said that the connection ends, without fault, once its streams have (RFC 9113 §6.8).
    var isLast = false
  }

  extension CurlTransfer {
    /// libcurl says something.
    func listen(to text: UnsafeRawBufferPointer) {
      switch CurlRemark(text) {
      case .opened(let id): stream = StreamFate(id: id, port: localPort)
      case .refused: refuse()
      case .goingAway(let last, let error): loop.goingAway(after: last, isGraceful: error == 0, heardBy: self)
      case nil: break
      }
    }
  }
#endif
