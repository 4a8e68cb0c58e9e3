package ws

import "golang.org/x/sys/unix"

// tune keeps what is not sent yet out of the kernel, where the unreliable lane
// could not drop it any more.
func tune(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, notSentLowat)
}
