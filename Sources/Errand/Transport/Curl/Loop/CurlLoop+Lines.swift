#if os(Linux)
  /// The lines of a loop.
  extension CurlLoop {
    /// The exchange waits until libcurl may start it.
    func wait(_ transfer: CurlTransfer, in group: CurlGroup) {
      transfer.place = group.lines[transfer.lineKey, default: ConnectionLine(limit: group.connectionsPerOrigin)]
        .join(transfer)
      startWaiting(in: group, transfer.lineKey)
    }

    /// The connection of an exchange stands.
    func foundConnection(_ transfer: CurlTransfer) {
      guard transfer.place == .started else { return }
      transfer.place = .connected
      groups[transfer.group]?.lines[transfer.lineKey]?.connected()
    }

    /// The connection of an exchange carries streams: more may be started, once libcurl has returned.
    func carriesStreams(_ transfer: CurlTransfer) {
      guard transfer.place != nil else { return }
      groups[transfer.group]?.lines[transfer.lineKey]?.isMultiplexed = true
      moved.append((transfer.group, transfer.lineKey))
    }

    /// An exchange is over: the next may start, once libcurl has returned.
    func leaveLine(_ transfer: CurlTransfer) {
      guard let place = transfer.place else { return }
      transfer.place = nil
      groups[transfer.group]?.lines[transfer.lineKey]?.leave(place)
      moved.append((transfer.group, transfer.lineKey))
    }

    /// Starts those whose turn has come.
    func startWaiting() {
      // What cannot be started ends at once, which moves its line again.
      while !moved.isEmpty {
        var due: [(group: CurlGroup.ID, line: String)] = []
        swap(&due, &moved)
        for (id, line) in due { if let group = groups[id] { startWaiting(in: group, line) } }
      }
    }

    private func startWaiting(in group: CurlGroup, _ key: String) {
      while let transfer = group.lines[key]?.start() {
        transfer.place = .started
        guard let multi = multi(for: transfer, in: group) else { continue }
        multi.add(transfer)
      }
      if group.lines[key]?.isEmpty ?? false { group.lines[key] = nil }
    }
  }
#endif
