import Foundation

extension Call {
  /// Echoes and records what went over the wire, where that is wanted.
  func show(
    _ exchange: ExchangeRecord, _ outcome: CallOutcome, _ method: HTTPMethod, _ url: URL?, _ status: HTTPStatus?
  ) {
    let configuration = snapshot.configuration
    let text = exchange.text(plan, configuration, flightRecord, outcome)
    if isEchoed { configuration.log.write(text) }
    guard let recorder else { return }
    let url = url.map { configuration.redaction($0) }
    let entry = exchange.entry(plan, method, url, status, outcome, trace.elapsed)
    let recording = Recording(text: text, name: plan.recordingName(method: method), entry: entry)
    recorder.record(recording, log: configuration.log)
  }
}
