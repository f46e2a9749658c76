public import ErrandFoundation

/// The result of a call: the payload, the response and the call's metrics.
public struct TaskResponse<Payload: Sendable>: Sendable {
  /// The payload.
  public let payload: Payload
  /// The head of the response.
  public let response: HTTPResponse
  /// The decompressed body. Empty if it was written to a file.
  public let data: Data
  /// The call's metrics.
  public let metrics: TaskMetrics
  private let call: Call

  /// The record of the call's events. It includes the end of the call once the call has returned.
  public var record: FlightRecord { call.flightRecord }

  /// The call's attempts, including the last.
  public var attempts: [AttemptRecord] { record.attempts }

  /// The status.
  public var status: HTTPStatus { response.status }

  /// The header fields.
  public var headers: HTTPHeaders { response.headers }

  /// The body as text, decoded with the charset from `Content-Type`, or as UTF-8 if no charset is given.
  public var text: String { PayloadCoding.text(data, response.mediaType) }

  /// How the server's cache handled the request. `nil` if the server has no cache.
  public var cacheStatus: CacheStatus? { response.cacheStatus }

  /// Unavailable: the body has already been read.
  @available(*, unavailable, message: "the body has been read: use data, text or payload")
  public var body: Data { data }

  /// Returns the response with a different payload.
  ///
  /// - Parameter transform: A closure that converts the payload.
  /// - Returns: The response with the new payload.
  /// - Throws: Any error thrown by `transform`.
  public func map<Other: Sendable>(_ transform: (Payload) throws -> Other) rethrows -> TaskResponse<Other> {
    TaskResponse<Other>(payload: try transform(payload), response: response, data: data, metrics: metrics, call: call)
  }

  init(payload: Payload, response: HTTPResponse, data: Data, metrics: TaskMetrics, call: Call) {
    self.payload = payload
    self.response = response
    self.data = data
    self.metrics = metrics
    self.call = call
  }

  package init(_ payload: Payload, _ outcome: Outcome) {
    var metrics = outcome.call.trace.flightRecord.metrics
    metrics.elapsed = outcome.call.trace.elapsed
    self.init(payload: payload, response: outcome.response, data: outcome.data, metrics: metrics, call: outcome.call)
  }
}
