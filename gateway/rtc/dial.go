package rtc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// DialOptions of [Dial]. The zero value is ready.
type DialOptions struct {
	// Link holds the options of the link.
	Link link.Options
	// Token is sent as the bearer token of the offer.
	Token string
	// TCPOnly uses no UDP: the path of a client behind a firewall that lets only
	// TCP through.
	TCPOnly bool
	// HTTPClient posts the offer; nil for http.DefaultClient.
	HTTPClient *http.Client
	// Patience is how long the server may acknowledge nothing that waits on the
	// reliable lane before it is given up. Default 15 s.
	Patience time.Duration
	// Log gets the library's complaints, at debug level. nil for none.
	Log *slog.Logger
}

// Dial opens a link to the server whose HTTP listener is at base
// ("https://play.example.org"): it posts an offer to base/v1/rtc and waits until
// both channels are open. ctx bounds that, not the link; if it ends just as they
// open, h is told of a link that opened and ended. A server that refuses answers
// with a problem, whose code is the [*wire.Error] that the error wraps.
func Dial(ctx context.Context, base string, h link.Handler, o DialOptions) (*link.Link, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("rtc: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	certificate, err := newCertificate()
	if err != nil {
		return nil, err
	}
	se := settings(o.Log)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6})
	if o.TCPOnly {
		se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6})
	}
	se.SetIncludeLoopbackCandidate(isLoopback(at.Hostname()))

	info := link.Info{Transport: "rtc"}
	if remote, err := netip.ParseAddrPort(at.Host); err == nil {
		info.Remote = remote
	}
	p, err := newPeer(newAPI(se), webrtc.Configuration{Certificates: []webrtc.Certificate{certificate}},
		info, cmp.Or(o.Patience, 15*time.Second))
	if err != nil {
		return nil, err
	}
	if err := p.offer(ctx, strings.TrimSuffix(base, "/")+"/v1/rtc", o); err != nil {
		p.free()
		return nil, err
	}
	go p.run(h, o.Link, forever, func() {})
	select {
	case <-p.ready:
		return p.link, nil
	case <-p.ended:
		return nil, p.why()
	case <-ctx.Done():
	}
	p.fail(ctx.Err())
	<-p.ended
	return nil, fmt.Errorf("rtc: the channels did not open: %w", ctx.Err())
}

// forever leaves the time that opening may take to Dial's context.
const forever = 1<<63 - 1

// offer exchanges descriptions with the server. It does not wait for our own
// candidates: the server learns our addresses as our packets arrive, and asking
// every interface first would cost more time than all the rest.
func (p *peer) offer(ctx context.Context, url string, o DialOptions) error {
	offer, err := p.pc.CreateOffer(nil)
	if err != nil {
		return fmt.Errorf("rtc: offer: %w", err)
	}
	if err := p.pc.SetLocalDescription(offer); err != nil {
		return fmt.Errorf("rtc: offer: %w", err)
	}
	answer, err := post(ctx, url, offer.SDP, o)
	if err != nil {
		return err
	}
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		return fmt.Errorf("rtc: answer: %w", err)
	}
	return nil
}

func post(ctx context.Context, url, sdp string, o DialOptions) (answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(sdp))
	if err != nil {
		return "", fmt.Errorf("rtc: %w", err)
	}
	req.Header.Set("Content-Type", "application/sdp")
	if o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+o.Token)
	}
	resp, err := cmp.Or(o.HTTPClient, http.DefaultClient).Do(req)
	if err != nil {
		return "", fmt.Errorf("rtc: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("rtc: answer: %w", err)
	}
	if resp.StatusCode == http.StatusCreated {
		return string(body), nil
	}
	var problem struct {
		Code   wire.Code `json:"code"`
		Detail string    `json:"detail"`
	}
	if json.Unmarshal(body, &problem) == nil && problem.Code != wire.CodeNone {
		return "", fmt.Errorf("rtc: refused: %w", &wire.Error{Code: problem.Code, Reason: problem.Detail})
	}
	return "", fmt.Errorf("rtc: POST %s: status %s", url, resp.Status)
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
