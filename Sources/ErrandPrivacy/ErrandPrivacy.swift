// The privacy manifest for Apple platforms. A separate target, because SwiftPM adds a source that imports Foundation to
// every target with resources, and the library avoids Foundation on Linux.
