public import ErrandFoundation

extension Server {
  /// Sends a task's request to this server and returns the events as they arrive, like
  /// ``ServerTask/events(until:upTo:)``.
  public nonisolated func events(
    _ task: some ServerTask, until terminator: String? = nil, upTo limit: Int = 1 << 20
  ) -> ServerSentEvents {
    task.on(self).events(until: terminator, upTo: limit)
  }

  /// Sends a task's request to this server and returns the decoded data of the events as they arrive, like
  /// ``ServerTask/events(of:decoder:until:upTo:)``.
  public nonisolated func events<Value: Decodable & Sendable>(
    _ task: some ServerTask, of type: Value.Type, decoder: any PayloadDecoder = JSONDecoder(),
    until terminator: String? = nil, upTo limit: Int = 1 << 20
  ) -> AsyncThrowingMapSequence<ServerSentEvents, Value> {
    task.on(self).events(of: type, decoder: decoder, until: terminator, upTo: limit)
  }

  /// Sends an endpoint's request to this server and returns the events as they arrive, like
  /// ``ServerTask/events(until:upTo:)``.
  ///
  ///     for try await event in shop.events(.get("prices")) { show(try event.decoded(Price.self)) }
  @_disfavoredOverload
  public nonisolated func events<Upload>(
    _ endpoint: Endpoint<Upload, Data>, until terminator: String? = nil, upTo limit: Int = 1 << 20
  ) -> ServerSentEvents {
    endpoint.on(self).events(until: terminator, upTo: limit)
  }
}
