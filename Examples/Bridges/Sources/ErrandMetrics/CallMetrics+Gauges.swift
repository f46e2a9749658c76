public import Errand
import Metrics

extension CallMetrics {
  /// Reports the calls in flight and the open connections of a server, as they change.
  ///
  ///     Task { await metrics.watch(shop.gauges(every: .seconds(5)), of: "shop") }
  ///
  /// | Meter | Dimensions |
  /// |---|---|
  /// | `http.client.active_requests` | `errand.server` |
  /// | `http.client.open_connections` | `errand.server`, `http.connection.state`: `active` or `idle` |
  ///
  /// It returns when the server is gone, which it does not hold, or the surrounding task is cancelled; the meters are
  /// destroyed then. Calls are those of the server's manager, their waits included. Connections that are being made
  /// are in neither state.
  ///
  /// - Parameters:
  ///   - readings: The gauges of the server; the time between two of them is theirs.
  ///   - server: A short name of the server, which keeps several apart.
  public func watch(_ readings: GaugeReadings, of server: String) async {
    let name = ("errand.server", server)
    let calls = Meter(label: "http.client.active_requests", dimensions: [name], factory: factory)
    let (active, idle) = (connections("active", name), connections("idle", name))
    defer { for meter in [calls, active, idle] { meter.destroy() } }
    for await gauges in readings {
      calls.set(gauges.calls)
      active.set(gauges.connections.busy)
      idle.set(gauges.connections.idle)
    }
  }

  private func connections(_ state: String, _ name: (String, String)) -> Meter {
    Meter(
      label: "http.client.open_connections", dimensions: [name, ("http.connection.state", state)], factory: factory)
  }
}
