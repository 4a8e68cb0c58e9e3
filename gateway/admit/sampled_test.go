package admit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

func TestSampledWritesTheFirstLinesOfASecondAndCountsTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := admit.NewSampled(slog.New(slog.NewTextHandler(&out, nil)))
		for range 25 {
			s.Info("refused")
		}
		if n := strings.Count(out.String(), "msg=refused"); n != admit.LinesPerSecond {
			t.Fatalf("%d lines in a second", n)
		}
		time.Sleep(time.Second)
		s.Info("refused")
		if !strings.Contains(out.String(), "more_not_logged=15") {
			t.Fatalf("the rest is not counted:\n%s", out.String())
		}
	})
}
