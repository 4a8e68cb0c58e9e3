package configs

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time, written with its unit: 250ms, 2s, 1m30s.
type Duration time.Duration

// Never as a timeout means that there is none; written "never".
const Never Duration = -1

// D returns the duration for the standard library; [Never] is negative.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string {
	if d == Never {
		return "never"
	}
	s := time.Duration(d).String()
	// 1m0s and 1h0m0s are how people would not write it.
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A bare number is an error,
// 0 too.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "never" {
		*d = Never
		return nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return errors.New("has no unit")
	}
	v, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return errors.New("is not a duration")
	case v < 0:
		return errors.New("is negative")
	}
	*d = Duration(v)
	return nil
}

// Size is a number of bytes, written with its unit: 512B, 64KiB, 1MiB, 2GiB.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	t := string(text)
	if _, err := strconv.ParseFloat(t, 64); err == nil {
		return errors.New("has no unit")
	}
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(t, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && n > math.MaxInt64/u.bytes:
			return errors.New("is too large")
		case err != nil:
			return errors.New("is not a size")
		case n < 0:
			return errors.New("is negative")
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return errors.New("is not a size")
}

// Listen is the address of a listener, an IP address (empty: every one) and a
// port (0: any free one), or "off".
type Listen string

// Off reports whether there shall be no listener.
func (l Listen) Off() bool { return l == "off" }

// addrPort returns the parts; an empty host is the zero Addr.
func (l Listen) addrPort() (netip.AddrPort, error) {
	host, port, ok := cutLast(string(l), ":")
	p, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, errors.New("is not an address with a port")
	}
	if host == "" {
		return netip.AddrPortFrom(netip.Addr{}, uint16(p)), nil
	}
	if ap, err := netip.ParseAddrPort(string(l)); err == nil {
		return ap, nil
	}
	return netip.AddrPort{}, errors.New("does not begin with an IP address")
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Network is a range of addresses, 10.0.0.0/8, or one address, 192.0.2.1.
type Network struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Network) UnmarshalText(text []byte) error {
	s := string(text)
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		n.Prefix = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return errors.New("is not a network")
	case p != p.Masked():
		return fmt.Errorf("has bits set beyond its length: %s would be its network", p.Masked())
	case p.Bits() == 0:
		return errors.New("is every address there is")
	}
	n.Prefix = p
	return nil
}

// Secret is a text that shows itself to nobody who does not ask for it by name.
type Secret struct{ text string }

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// Empty reports whether there is none.
func (s Secret) Empty() bool { return s.text == "" }

// String returns a mask, so that no print or log shows the secret.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return "********"
}

// GoString masks %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText masks every encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue masks log records.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
