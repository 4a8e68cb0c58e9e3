//go:build !linux

package ws

// tune does nothing where TCP_NOTSENT_LOWAT is not known to work: snapshots may
// then wait in the kernel behind a slow peer.
func tune(uintptr) {}
