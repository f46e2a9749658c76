import ErrandFoundation

extension HTTPResponse {
  /// Reads the body and decodes it, for hooks and streams.
  ///
  ///     func postProcess(response: HTTPResponse) async throws {
  ///       let answer = try await response.decoded(Answer.self)
  ///       if let problem = answer.error { throw TaskError(.init("problem"), problem, response: response) }
  ///     }
  ///
  /// In ``ServerTask/postProcess(response:)`` and ``ServerTask/postflight(response:)``, a body in memory stays readable.
  /// The task's ``ServerTask/payloadPath`` is ignored.
  ///
  /// - Parameters:
  ///   - type: The type to decode. Can be inferred.
  ///   - decoder: The decoder. Defaults to the decoder of the task or its server.
  ///   - limit: The maximum number of bytes to read. Defaults to 64 MiB.
  /// - Throws: ``TaskError`` with code `.decodingFailed`, which names the value that could not be decoded, or
  ///   ``HTTPBodyLimitError`` if the body is longer than `limit`. Also any error that ``HTTPResponseBody/next()`` throws.
  public func decoded<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, decoder: (any PayloadDecoder)? = nil, upTo limit: Int = 64 << 20
  ) async throws -> Value {
    let data = try await body.collect(upTo: limit)
    let call = call as? Call
    do {
      return try PayloadCoding.decode(
        type, from: data, mediaType: mediaType, with: decoder ?? call?.decoder(for: mediaType) ?? JSONDecoder(),
        redaction: call?.shownRedaction)
    } catch let error as TaskError {
      guard let call else { throw error }
      throw call.explained(error.with(self, data, call.snapshot.configuration))
    }
  }
}
