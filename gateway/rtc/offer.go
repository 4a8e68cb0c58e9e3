package rtc

import (
	"strings"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// MaxOffer is the largest offer, in bytes. A browser's is about 1 KiB, with
	// candidates 2.
	MaxOffer = 16 << 10
	// maxCandidates bounds the candidates of an offer. They are dropped, but no
	// honest client has more.
	maxCandidates = 100
)

// offer is a checked offer.
type offer struct {
	// sdp is the offer without its candidates.
	sdp string
	// candidates is how many were dropped.
	candidates int
}

// checkOffer admits offers of one data section and nothing else: the library
// would take nearly anything, media and a thousand sections included, and every
// candidate costs it time that grows with the square of their number.
func checkOffer(sdp string) (offer, *wire.Error) {
	if len(sdp) > MaxOffer {
		return offer{}, wire.Errorf(wire.CodeTooBig, "the offer has %d bytes, limit %d", len(sdp), MaxOffer)
	}
	var (
		o                           offer
		kept                        strings.Builder
		sections                    int
		fingerprint, ufrag, pwd, v0 bool
	)
	kept.Grow(len(sdp) + 16)
	for line := range strings.Lines(sdp) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if e := checkLine(line); e != nil {
			return offer{}, e
		}
		name, value, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "m="):
			sections++
			if e := checkSection(line); e != nil {
				return offer{}, e
			}
		case line == "v=0":
			v0 = true
		case name == "a=candidate":
			o.candidates++
			continue
		case name == "a=end-of-candidates":
			continue
		case name == "a=fingerprint":
			fingerprint = fingerprint || len(strings.Fields(value)) == 2
		case name == "a=ice-ufrag":
			ufrag = ufrag || value != ""
		case name == "a=ice-pwd":
			pwd = pwd || value != ""
		case name == "a=setup" && value == "passive":
			// So are we (Listener.configure), and neither end would begin.
			return offer{}, wire.Errorf(wire.CodeProtocol, "a=setup: actpass or active, not passive")
		}
		kept.WriteString(line)
		kept.WriteString("\r\n")
	}
	o.sdp = kept.String()
	switch {
	case !v0:
		return offer{}, wire.Errorf(wire.CodeProtocol, "not an SDP: no v=0 line")
	case sections != 1:
		return offer{}, wire.Errorf(wire.CodeProtocol, "%d m= sections, want exactly one, m=application", sections)
	case !fingerprint:
		return offer{}, wire.Errorf(wire.CodeProtocol, "a=fingerprint is missing")
	case !ufrag || !pwd:
		return offer{}, wire.Errorf(wire.CodeProtocol, "a=ice-ufrag or a=ice-pwd is missing")
	case o.candidates > maxCandidates:
		return offer{}, wire.Errorf(wire.CodeProtocol, "%d candidates, limit %d; none are needed", o.candidates, maxCandidates)
	}
	return o, nil
}

// checkLine admits what every reader takes for one line: ours and the library's
// must not see different lines, or candidates would slip by (a lone CR ends a line
// for the library, but not in RFC 8866).
func checkLine(line string) *wire.Error {
	if len(line) < 2 || line[1] != '=' {
		return wire.Errorf(wire.CodeProtocol, "not an SDP: a line does not begin with a type and =")
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return wire.Errorf(wire.CodeProtocol, "not an SDP: a line has a control character in it")
	}
	return nil
}

// checkSection admits "m=application PORT UDP/DTLS/SCTP webrtc-datachannel"
// (RFC 8841) with a port that does not reject the section.
func checkSection(line string) *wire.Error {
	f := strings.Fields(line)
	if f[0] != "m=application" {
		return wire.Errorf(wire.CodeProtocol, "only an m=application section is served here")
	}
	if len(f) != 4 || f[1] == "0" || f[3] != "webrtc-datachannel" ||
		f[2] != "UDP/DTLS/SCTP" && f[2] != "TCP/DTLS/SCTP" {
		return wire.Errorf(wire.CodeProtocol, "m=application: want PORT UDP/DTLS/SCTP webrtc-datachannel")
	}
	return nil
}
