/// The payload of a request without a body, or of a response whose body is ignored.
///
///     struct PlaceOrder: POST<Order, NoContent> { … }     // the response's body is ignored
///     struct BuyWidget: POST<NoContent, Receipt> { … }    // the request has no body
///     struct LogOut: POST<NoContent, NoContent> { … }     // neither
///
/// If a task's response payload is `NoContent`, sending the task returns the ``HTTPResponse``.
public struct NoContent: TaskPayload, Hashable {
  /// Creates the payload.
  public init() {}

  /// Creates the payload without reading the body.
  public init(from decoder: any Decoder) {}
}
