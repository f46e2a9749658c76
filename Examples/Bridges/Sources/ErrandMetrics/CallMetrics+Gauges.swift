public import Errand
import Metrics

extension CallMetrics {
  /// Reports a server's calls in flight and open connections as they change.
  ///
  ///     Task { await metrics.watch(shop.gauges(every: .seconds(5)), of: "shop") }
  ///
  /// | Meter | Dimensions |
  /// |---|---|
  /// | `http.client.active_requests` | `errand.server` |
  /// | `http.client.open_connections` | `errand.server`, `http.connection.state`: `active` or `idle` |
  ///
  /// Destroys the meters and returns when the server is released or the surrounding task is cancelled. The server is
  /// not retained. The calls are those of the server's manager, including waiting calls. Connections that are being
  /// established are not counted in either state.
  ///
  /// - Parameters:
  ///   - readings: The server's gauges, which determine the interval.
  ///   - server: A short name that identifies the server.
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
