// The privacy manifest, for Apple platforms. It is a target of its own, because SwiftPM gives every target with a
// resource a source that imports Foundation, which on Linux the library does without.
