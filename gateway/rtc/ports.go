package rtc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// socketBuffer is asked for on the shared ports: every peer's packets go through
// one queue of the kernel. The kernel grants what it is configured to.
const socketBuffer = 4 << 20

// listenUDP binds one socket per address. A socket bound to the unspecified
// address would answer from whichever address the route prefers, and ICE takes an
// answer from elsewhere for another peer.
func listenUDP(address string) ([]*net.UDPConn, error) {
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, fmt.Errorf("rtc: UDP address %q: %w", address, err)
	}
	hosts := []net.IP{at.IP}
	if at.IP == nil || at.IP.IsUnspecified() {
		if hosts, err = ownAddresses(at.IP); err != nil {
			return nil, fmt.Errorf("rtc: UDP address %q: %w", address, err)
		}
	}
	var conns []*net.UDPConn
	port := at.Port
	for _, ip := range hosts {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip, Port: port, Zone: at.Zone})
		if err != nil {
			for _, open := range conns {
				_ = open.Close()
			}
			return nil, fmt.Errorf("rtc: UDP address %q: %w", address, err)
		}
		port = c.LocalAddr().(*net.UDPAddr).Port // 0 means any, but the same for all
		_ = c.SetReadBuffer(socketBuffer)
		_ = c.SetWriteBuffer(socketBuffer)
		conns = append(conns, c)
	}
	return conns, nil
}

// ownAddresses returns the addresses of this machine that others may reach. An
// IPv4 wildcard stands for IPv4 only, as it does for a socket.
func ownAddresses(wildcard net.IP) ([]net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []net.IP
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLoopback() || n.IP.IsLinkLocalUnicast() {
			continue
		}
		if wildcard.To4() != nil && n.IP.To4() == nil {
			continue
		}
		own = append(own, n.IP)
	}
	if len(own) == 0 {
		return nil, errors.New("this machine has no address but loopback; name that")
	}
	return own, nil
}

// limited is a listener that closes what comes while too many connections are
// open: the library gives each a goroutine before it has said anything.
type limited struct {
	net.Listener
	most int64
	open atomic.Int64
}

// Accept implements [net.Listener].
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &counted{Conn: c, done: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		_ = c.Close()
	}
}

// counted is a connection that is missed when it closes.
type counted struct {
	net.Conn
	done func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.done()
	return c.Conn.Close()
}

func addrOf(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.UDPAddr:
		return unmap(a.AddrPort())
	case *net.TCPAddr:
		return unmap(a.AddrPort())
	}
	return netip.AddrPort{}
}

func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
