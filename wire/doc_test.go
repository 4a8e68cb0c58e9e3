package wire_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// docs/protocol.md is what other implementations are written from: its tables
// list what the code knows, no more and no less.
func TestProtocolPageAgreesWithTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)

	codes := map[string]bool{}
	for _, cell := range regexp.MustCompile(`\| (4\d\d\d) \| (\w+) `).FindAllStringSubmatch(page, -1) {
		codes[cell[1]+" "+cell[2]] = true
	}
	for _, c := range wire.Codes() {
		entry := fmt.Sprintf("%d %s", c, c.Name())
		if c != wire.CodeNone && !codes[entry] {
			t.Errorf("code %s is not on the page", entry)
		}
		delete(codes, entry)
	}
	for entry := range codes {
		t.Errorf("the page lists code %s, which is none", entry)
	}

	kinds := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| (?:client|server|both) \|`).FindAllStringSubmatch(page, -1) {
		kinds[row[1]+" "+row[2]] = true
	}
	for k := wire.Kind(1); k < 32; k++ {
		entry := fmt.Sprintf("%d %s", k, k)
		if known := k.String() != "unknown"; known && !kinds[entry] {
			t.Errorf("kind %s is not on the page", entry)
		}
		delete(kinds, entry)
	}
	for entry := range kinds {
		t.Errorf("the page lists kind %s, which is none", entry)
	}

	for _, n := range []int{wire.MaxMessage, wire.MaxDatagram, wire.MaxReliablePayload, wire.MaxUnreliablePayload} {
		if grouped := fmt.Sprintf("%d,%03d", n/1000, n%1000); !strings.Contains(page, grouped) {
			t.Errorf("the limit of %s bytes is not on the page", grouped)
		}
	}
}
