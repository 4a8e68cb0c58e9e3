package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/configs"
)

// Bounds of an HTTP connection: without them a client that sends a byte now and
// then keeps it for ever. A WebSocket leaves them behind when it is taken over.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 15 * time.Second
	answerTimeout  = 60 * time.Second
	idleTimeout    = 60 * time.Second
	maxHeaderBytes = 32 << 10
)

// server is one HTTP listener.
type server struct {
	listener net.Listener
	http     http.Server
	serving  sync.WaitGroup
}

// listen binds the address; nothing is answered yet.
func listen(at configs.Listen, log *slog.Logger) (*server, error) {
	l, err := net.Listen("tcp", string(at))
	if err != nil {
		return nil, err
	}
	return &server{listener: l, http: http.Server{
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
}

func (s *server) addr() netip.AddrPort {
	ap := s.listener.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

func (s *server) handle(h http.Handler) { s.http.Handler = h }

// serve answers in a goroutine of its own, which close waits for. An error that
// close did not cause goes to failed.
func (s *server) serve(failed chan<- error) {
	s.serving.Go(func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	})
}

// close lets requests under way finish until ctx ends.
func (s *server) close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	_ = s.listener.Close() // if it was never served
	s.serving.Wait()
	return err
}
