/// A slot: it is free again when the last reference to it goes, and so exactly once.
final class AdmissionSlot: Sendable {
  private let desk: AdmissionDesk
  private let host: Origin

  init(_ desk: AdmissionDesk, _ host: Origin) {
    self.desk = desk
    self.host = host
  }

  deinit { desk.leave(host) }
}
