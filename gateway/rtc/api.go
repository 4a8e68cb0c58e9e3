package rtc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math/big"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// handshakeTimeout bounds DTLS, for which the library has no bound: a peer
	// that does ICE and then nothing would stay for ever.
	handshakeTimeout = 10 * time.Second
	// A peer is taken for disconnected after disconnectedAfter without a packet,
	// and given up failedAfter later; keepAlive is how often an idle peer sends.
	disconnectedAfter = 5 * time.Second
	failedAfter       = 10 * time.Second
	keepAlive         = 2 * time.Second
)

// settings are what both ends have in common.
func settings(log *slog.Logger) webrtc.SettingEngine {
	var se webrtc.SettingEngine
	se.LoggerFactory = logFactory{log}
	se.DetachDataChannels() // an attached channel holds 64 KiB
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetICETimeouts(disconnectedAfter, failedAfter, keepAlive)
	se.SetSCTPMaxMessageSize(wire.MaxMessage) // announced only; the readers see to it
	se.SetDTLSConnectContextMaker(func() (context.Context, func()) {
		return context.WithTimeout(context.Background(), handshakeTimeout)
	})
	return se
}

// newAPI has no codecs and no interceptors: there is no media here. Left out, the
// library would add its own.
func newAPI(se webrtc.SettingEngine) *webrtc.API {
	return webrtc.NewAPI(
		webrtc.WithSettingEngine(se),
		webrtc.WithMediaEngine(&webrtc.MediaEngine{}),
		webrtc.WithInterceptorRegistry(&interceptor.Registry{}),
	)
}

// certificateLife is long because the library refuses new peers once its own
// certificate has expired, and peers know it by its fingerprint alone, never by
// its dates (RFC 8827 §6.5).
const certificateLife = 10 * 365 * 24 * time.Hour

func newCertificate() (webrtc.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return webrtc.Certificate{}, fmt.Errorf("rtc: certificate key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return webrtc.Certificate{}, fmt.Errorf("rtc: certificate serial: %w", err)
	}
	now := time.Now()
	c, err := webrtc.NewCertificate(key, x509.Certificate{
		SerialNumber: serial,
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     now.Add(certificateLife),
	})
	if err != nil {
		return webrtc.Certificate{}, fmt.Errorf("rtc: certificate: %w", err)
	}
	return *c, nil
}
