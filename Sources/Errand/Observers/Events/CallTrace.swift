import ErrandFoundation

/// Keeps a call's flight record, notifies its observers, and writes its log lines.
package final class CallTrace: Sendable {
  package let call: Int
  /// The name of the task's type. Empty if nothing is observed or logged.
  private let task: String
  /// Whether anything is observed or logged before the call ends.
  private let isEager: Bool
  private let clock: CallClock
  private let start: Duration
  private let observers: [ObserverQueue]
  private let logStyle: LogStyle
  private let log: LogOutput
  private let context: TaskContext
  package let span: CallSpan?
  private let record: Lock<FlightRecord>
  private let logged = Lock(Duration.zero)
  /// Whether observers or the log receive moments that are not in the flight record.
  package let isObserved: Bool
  /// Whether the span collects data that is not in the flight record.
  package let keepsNotes: Bool
  /// Whether the URL is hidden from observers and the log.
  package let isHidden: Bool
  private let isInternal: Bool

  package init(
    call: Int, task: @autoclosure () -> String, clock: CallClock, observers: [ObserverQueue],
    logStyle: LogStyle, log: LogOutput, context: TaskContext = TaskContext(),
    isHidden: Bool = false, isInternal: Bool = false, span: CallSpan? = nil
  ) {
    self.call = call
    self.isInternal = isInternal
    self.isHidden = isHidden
    let interest = observers.lazy.map { $0.interest }.max()
    self.task = interest != nil || logStyle != .none ? task() : ""
    isEager = (interest ?? .ends) > .ends || logStyle != .none
    isObserved = interest == .all || logStyle == .steps
    keepsNotes = interest != nil && span?.context.isSampled == true
    self.clock = clock
    self.observers = observers
    self.logStyle = logStyle
    self.log = log
    self.context = context
    self.span = span
    start = clock.now
    var record = FlightRecord()
    record.entries.reserveCapacity(8)
    self.record = Lock(record)
  }

  package var elapsed: Duration { clock.now - start }

  /// Records a moment and returns its time, which defaults to the current time.
  @discardableResult
  package func note(_ moment: consuming CallMoment, at time: Duration? = nil) -> Duration {
    let time = time ?? elapsed
    guard isEager else {
      let entry = FlightRecord.Entry(time: time, moment: moment)
      record.withLock { $0.entries.append(entry) }
      return time
    }
    notify(moment, at: time)
    return time
  }

  private func notify(_ moment: CallMoment, at time: Duration) {
    record.withLock { $0.entries.append(FlightRecord.Entry(time: time, moment: moment)) }
    emit(moment, at: time)
  }

  /// Reports a moment without adding it to the flight record.
  package func emit(
    _ moment: CallMoment, at time: Duration, errorType: String? = nil, record: FlightRecord? = nil
  ) {
    let moment = isHidden ? moment.withoutURL : moment
    let event = TaskEvent(
      call: call, task: task, time: time, moment: moment, context: context, span: span, errorType: errorType,
      record: isHidden ? record?.withoutURL : record, isInternal: isInternal)
    for observer in observers where observer.interest.includes(moment) { observer.notify(event) }
    if logStyle.includes(moment) { write(moment, at: time) }
  }

  /// Writes a log line. Times in the log never go backwards, so a moment that is logged late also shows its own time.
  private func write(_ moment: CallMoment, at time: Duration) {
    let latest = logged.withLock { latest in
      latest = max(latest, time)
      return latest
    }
    let (shown, own) = (latest.formattedSeconds, time.formattedSeconds)
    log.write("#\(call) \(task) \(shown): \("\(moment)".onOneLine)\(shown == own ? "" : " (at \(own))")")
  }

  package func notify(_ progress: TransferProgress) {
    let event = TaskEvent(
      call: call, task: task, time: elapsed, moment: .progressed(progress), context: context, span: span,
      isInternal: isInternal)
    for observer in observers where observer.wantsProgress { observer.notify(event) }
  }

  /// Ends the call and returns its record. The title is only set in the record that observers receive.
  package func end(
    _ outcome: CallOutcome, _ cause: Diagnosis.Cause? = nil, errorType: @autoclosure () -> String? = nil,
    title: @autoclosure () -> String = ""
  ) -> FlightRecord {
    let time = elapsed
    let ended = record.withLock { record in
      if cause != nil { record.cause = cause }
      record.entries.append(FlightRecord.Entry(time: time, moment: .callEnded(outcome)))
      return record
    }
    if !observers.isEmpty || logStyle != .none {
      var reported = ended
      if !observers.isEmpty { reported.title = title() }
      emit(.callEnded(outcome), at: time, errorType: errorType(), record: reported)
    }
    return ended
  }

  package func countStreamed(_ bytes: Int) { record.withLock { $0.streamedBytes += bytes } }

  package var flightRecord: FlightRecord { record.withLock { $0 } }
}
