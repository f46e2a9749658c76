extension HTTPResponse {
  /// What happened to the call that gave this response, moment by moment; empty for one that did not come from a call.
  public var record: FlightRecord { (maker as? Call)?.flightRecord ?? FlightRecord() }
}
