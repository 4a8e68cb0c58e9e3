package rtc

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pion/sdp/v3"

	"github.com/gatehouse/gatehouse/wire"
)

// chromium is an offer as a browser makes it, shortened.
const chromium = "v=0\r\n" +
	"o=- 4611731400430051336 2 IN IP4 127.0.0.1\r\n" +
	"s=-\r\n" +
	"t=0 0\r\n" +
	"a=group:BUNDLE 0\r\n" +
	"a=msid-semantic: WMS\r\n" +
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n" +
	"c=IN IP4 0.0.0.0\r\n" +
	"a=candidate:1 1 udp 2113937151 5f1b.local 51234 typ host generation 0\r\n" +
	"a=ice-ufrag:abcd\r\n" +
	"a=ice-pwd:0123456789abcdefghijklmn\r\n" +
	"a=ice-options:trickle\r\n" +
	"a=fingerprint:sha-256 74:5E:3D:27:0A:E2:D0:DA:C1:37:B5:74:83:25:89:F1:83:3F:AE:AC:36:0C:D2:00:8E:D7:C5:B9:F4:DA:78:D7\r\n" +
	"a=setup:actpass\r\n" +
	"a=mid:0\r\n" +
	"a=sctp-port:5000\r\n" +
	"a=max-message-size:262144\r\n"

func TestCheckOffer(t *testing.T) {
	t.Parallel()
	candidate := "a=candidate:2 1 udp 1 192.0.2.1 9 typ host\r\n"
	drop := func(prefix string) string {
		var kept strings.Builder
		for line := range strings.Lines(chromium) {
			if !strings.HasPrefix(line, prefix) {
				kept.WriteString(line)
			}
		}
		return kept.String()
	}
	tests := []struct {
		name, sdp  string
		code       wire.Code // CodeNone: admitted
		candidates int
	}{
		{"a browser's", chromium, wire.CodeNone, 1},
		{"without candidates", drop("a=candidate"), wire.CodeNone, 0},
		{"lines end in LF", strings.ReplaceAll(chromium, "\r\n", "\n"), wire.CodeNone, 1},
		{"as many candidates as go", drop("a=candidate") + strings.Repeat(candidate, 100), wire.CodeNone, 100},
		{"end of candidates", chromium + "a=end-of-candidates\r\n", wire.CodeNone, 1},
		{"exactly 16 KiB", padded(MaxOffer), wire.CodeNone, 1},
		{"active", strings.Replace(chromium, "actpass", "active", 1), wire.CodeNone, 1},

		{"empty", "", wire.CodeProtocol, 0},
		{"JSON", `{"type":"offer"}`, wire.CodeProtocol, 0},
		{"16 KiB and a byte", padded(MaxOffer + 1), wire.CodeTooBig, 0},
		{"8,000 candidates", chromium + strings.Repeat(candidate, 8000), wire.CodeTooBig, 0},
		{"101 candidates", chromium + strings.Repeat(candidate, 100), wire.CodeProtocol, 0},
		{"no version", drop("v="), wire.CodeProtocol, 0},
		{"no section", drop("m="), wire.CodeProtocol, 0},
		{"two sections", chromium + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", wire.CodeProtocol, 0},
		{"audio too", chromium + "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", wire.CodeProtocol, 0},
		{"audio only", strings.Replace(chromium, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=audio 9 UDP/TLS/RTP/SAVPF 111", 1), wire.CodeProtocol, 0},
		{"section rejected", strings.Replace(chromium, "application 9", "application 0", 1), wire.CodeProtocol, 0},
		{"old SCTP form", strings.Replace(chromium, "UDP/DTLS/SCTP webrtc-datachannel", "DTLS/SCTP 5000", 1), wire.CodeProtocol, 0},
		{"bare m=", strings.Replace(chromium, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=", 1), wire.CodeProtocol, 0},
		{"lone CR", strings.Replace(chromium, "a=mid:0", "a=mid:0\ra=candidate:1", 1), wire.CodeProtocol, 0},
		{"indented", strings.Replace(chromium, "a=candidate", " a=candidate", 1), wire.CodeProtocol, 0},
		{"empty line", chromium + "\r\n", wire.CodeProtocol, 0},
		{"no fingerprint", drop("a=fingerprint"), wire.CodeProtocol, 0},
		{"half a fingerprint", drop("a=fingerprint") + "a=fingerprint:sha-256\r\n", wire.CodeProtocol, 0},
		{"no ufrag", drop("a=ice-ufrag"), wire.CodeProtocol, 0},
		{"no password", drop("a=ice-pwd"), wire.CodeProtocol, 0},
		{"an answer", strings.Replace(chromium, "actpass", "passive", 1), wire.CodeProtocol, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, e := checkOffer(test.sdp)
			if test.code != wire.CodeNone {
				if e == nil || !errors.Is(e, &wire.Error{Code: test.code}) {
					t.Errorf("got %v, want %s", e, test.code.Name())
				}
				return
			}
			if e != nil {
				t.Fatal(e)
			}
			if o.candidates != test.candidates || strings.Contains(o.sdp, "candidate") {
				t.Errorf("%d candidates counted, want %d; left:\n%s", o.candidates, test.candidates, o.sdp)
			}
			if strings.Contains(strings.ReplaceAll(o.sdp, "\r\n", ""), "\n") || !strings.HasSuffix(o.sdp, "\r\n") {
				t.Errorf("a line does not end in CRLF: %q", o.sdp)
			}
		})
	}
}

// padded returns an offer of exactly n bytes.
func padded(n int) string {
	return chromium + "a=x" + strings.Repeat("x", n-len(chromium)-len("a=x\r\n")) + "\r\n"
}

func FuzzCheckOffer(f *testing.F) {
	f.Add(chromium)
	f.Add("v=0\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\na=fingerprint:a b\na=ice-ufrag:x\na=ice-pwd:y")
	f.Add("m= ")
	f.Add("a=candidate:\ra=candidate:\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, e := checkOffer(text)
		if e != nil {
			if e.Code != wire.CodeProtocol && e.Code != wire.CodeTooBig {
				t.Errorf("code %v", e.Code)
			}
			return
		}
		sections := 0
		for line := range strings.Lines(o.sdp) {
			if strings.HasPrefix(line, "a=candidate:") {
				t.Errorf("a candidate is left: %q", line)
			}
			if strings.HasPrefix(line, "m=") {
				sections++
			}
		}
		if sections != 1 {
			t.Errorf("%d sections are left", sections)
		}
		// The library sees the same lines as we do.
		var d sdp.SessionDescription
		if d.UnmarshalString(o.sdp) == nil {
			if len(d.MediaDescriptions) != 1 {
				t.Errorf("the library sees %d sections", len(d.MediaDescriptions))
			}
			attributes := d.Attributes
			for _, m := range d.MediaDescriptions {
				attributes = append(attributes, m.Attributes...)
			}
			if slices.ContainsFunc(attributes, sdp.Attribute.IsICECandidate) {
				t.Error("the library sees a candidate")
			}
		}
		// What was admitted is admitted again, and nothing more is dropped.
		again, e := checkOffer(o.sdp)
		if len(o.sdp) <= MaxOffer && (e != nil || again.sdp != o.sdp || again.candidates != 0) {
			t.Errorf("checked twice: %v, %d candidates", e, again.candidates)
		}
	})
}
