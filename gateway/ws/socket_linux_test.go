package ws

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSocketsKeepNothingBack(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tuneConn(c)
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for name, want := range map[int]int{unix.TCP_NOTSENT_LOWAT: notSentLowat, unix.TCP_NODELAY: 1} {
			if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, name); err != nil || got != want {
				t.Errorf("option %d is %d, %v, want %d", name, got, err, want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
