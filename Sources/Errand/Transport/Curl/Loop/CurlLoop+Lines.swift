#if os(Linux)
  extension CurlLoop {
    func wait(_ transfer: CurlTransfer, in group: CurlGroup) {
      transfer.place = group.lines[transfer.lineKey, default: ConnectionLine(limit: group.connectionsPerOrigin)]
        .join(transfer)
      startWaiting(in: group, transfer.lineKey)
    }

    func foundConnection(_ transfer: CurlTransfer) {
      guard transfer.place == .started else { return }
      transfer.place = .connected
      groups[transfer.group]?.lines[transfer.lineKey]?.connected()
    }

    /// Called when an exchange's connection uses HTTP/2 or later. More exchanges may start once libcurl has returned.
    func carriesStreams(_ transfer: CurlTransfer) {
      guard transfer.place != nil else { return }
      groups[transfer.group]?.lines[transfer.lineKey]?.isMultiplexed = true
      moved.append((transfer.group, transfer.lineKey))
    }

    /// Called when an exchange has ended. The next exchange may start once libcurl has returned.
    func leaveLine(_ transfer: CurlTransfer) {
      guard let place = transfer.place else { return }
      transfer.place = nil
      groups[transfer.group]?.lines[transfer.lineKey]?.leave(place)
      moved.append((transfer.group, transfer.lineKey))
    }

    func startWaiting() {
      // An exchange that can't be started ends immediately, which changes its queue again.
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
