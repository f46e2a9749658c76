/// The payload of a request without a body, or of a response whose body is ignored.
///
///     struct PlaceOrder: POST<Order, NoContent> { … }     // the response's body is ignored
///     struct BuyWidget: POST<NoContent, Receipt> { … }    // the request has no body
///     struct LogOut: POST<NoContent, NoContent> { … }     // neither
///
/// Sending such a task returns the ``HTTPResponse`` if the response's payload is `NoContent`.
public struct NoContent: TaskPayload, Hashable {
  /// Creates the payload.
  public init() {}

  /// Creates the payload from any body, which is not read.
  public init(from decoder: any Decoder) {}
}
