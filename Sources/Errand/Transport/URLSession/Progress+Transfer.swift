#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
  #endif
  public import Foundation

  extension Progress {
    /// Creates a progress object that follows a transfer in one direction.
    ///
    ///     let shown = Progress(following: export.progress, .down)
    ///     shown.cancellationHandler = { export.cancel() }
    ///
    /// The progress is indeterminate if the total is unknown. It stops when the sequence ends and does not keep the
    /// call alive.
    ///
    /// - Parameters:
    ///   - transfers: The progress events to follow, such as the `progress` of a `TaskHandle`.
    ///   - direction: The direction to follow.
    public convenience init<Transfers: AsyncSequence & Sendable>(
      following transfers: Transfers, _ direction: TransferProgress.Direction
    ) where Transfers.Element == TransferProgress {
      self.init(totalUnitCount: -1)
      Task { [weak self] in
        for try await transfer in transfers where transfer.direction == direction {
          guard let self else { return }
          update(with: transfer)
        }
      }
    }

    /// Updates the progress with the byte counts, rate and remaining time of a transfer.
    public func update(with transfer: TransferProgress) {
      kind = .file
      // Foundation treats 0 of 0 as not started.
      let isEmpty = transfer.isFinished && transfer.completed == 0
      totalUnitCount = isEmpty ? 1 : transfer.isFinished ? transfer.completed : transfer.total ?? -1
      completedUnitCount = isEmpty ? 1 : transfer.completed
      setUserInfoObject(transfer.rate.map { Int($0) }, forKey: .throughputKey)
      setUserInfoObject(transfer.remaining.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
    }
  }
#endif
