//go:build noenet

package enet_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/enet"
)

func TestABuildWithoutENetSaysSo(t *testing.T) {
	t.Parallel()
	_, err := enet.Listen(enet.Options{}, nil)
	if err == nil || !strings.Contains(err.Error(), "tag noenet") {
		t.Errorf("listen: %v", err)
	}
	if _, err = enet.Dial(t.Context(), "127.0.0.1:7777", nil, enet.DialOptions{}); err == nil || !strings.Contains(err.Error(), "tag noenet") {
		t.Errorf("dial: %v", err)
	}
}
