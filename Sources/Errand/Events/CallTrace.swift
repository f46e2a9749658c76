import Foundation

/// Keeps the flight record of one call and tells whoever wants to know.
package final class CallTrace: Sendable {
  package let call: Int
  private let taskType: Any.Type
  private let clock: CallClock
  /// When the call started, by the clock.
  package let start: Duration
  private let observers: [any TaskObserver]
  private let logStyle: LogStyle
  private let log: TextSink
  private let record: Lock<FlightRecord>

  package init(
    call: Int, taskType: Any.Type, clock: CallClock, observers: [any TaskObserver],
    logStyle: LogStyle, log: TextSink
  ) {
    self.call = call
    self.taskType = taskType
    self.clock = clock
    self.observers = observers
    self.logStyle = logStyle
    self.log = log
    start = clock.now
    var record = FlightRecord()
    record.entries.reserveCapacity(8)
    self.record = Lock(record)
  }

  /// The present instant, by the clock.
  package var now: Duration { clock.now }

  /// The time since the call started.
  package var elapsed: Duration { clock.now - start }

  package func note(_ moment: CallMoment) {
    let time = elapsed
    record.withLock { $0.note(moment, at: time) }
    guard !observers.isEmpty || logStyle != .none else { return }
    let event = TaskEvent(call: call, task: "\(taskType)", time: time, moment: moment)
    for observer in observers { observer.observe(event) }
    if logStyle.includes(moment) { log.write("#\(call) \(event.task) \(time.formattedSeconds): \(moment)") }
  }

  package var flightRecord: FlightRecord { record.withLock { $0 } }
}
