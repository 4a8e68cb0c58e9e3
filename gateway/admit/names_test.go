package admit_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

func TestNames(t *testing.T) {
	t.Parallel()
	const room, display, identity = 1, 2, 4
	for _, c := range []struct {
		name  string
		takes int
	}{
		{"arena", room | display | identity},
		{"admin", room | display | identity},
		{"metrics", room | display | identity},
		{"team:7_a-b.c", room | display | identity},
		{"Δοκιμή", room | display | identity},
		{"部屋1", room | display | identity},
		{"na\u00efve", room | display | identity},
		{"nai\u0308ve", 0}, // the same in normal form D
		{"a/b", display | identity},
		{".", display | identity},
		{"..", display | identity},
		{"-a", display | identity},
		{"%2F", display | identity},
		{"<b>x</b>", display | identity},
		{"ann@example.org", display | identity},
		{"auth0|5f7c8ec7", display | identity},
		{"Ann B", display},
		{"😀", display | identity},
		{"", 0},
		{" ", 0},
		{" a", 0},
		{"a ", 0},
		{"a  b", 0},
		{"a\nb", 0},
		{"a\x00b", 0},
		{"a\u200bb", 0},       // zero width space
		{"a\u202eb", 0},       // right-to-left override
		{"\u0301a", identity}, // begins with a combining mark
		{"\xed\xa0\x80", 0},   // a lone surrogate
		{"\xff", 0},
		{strings.Repeat("x", 64), room | display | identity},
		{strings.Repeat("x", 65), identity},
		{strings.Repeat("x", 128), identity},
		{strings.Repeat("x", 200), 0},
	} {
		for _, rule := range []struct {
			what  string
			bit   int
			check func(string) error
		}{
			{"room", room, admit.RoomName},
			{"display", display, admit.DisplayName},
			{"identity", identity, admit.Identity},
		} {
			err := rule.check(c.name)
			if want := c.takes&rule.bit != 0; (err == nil) != want {
				t.Errorf("%s name %q: %v, want accepted=%v", rule.what, c.name, err, want)
			}
		}
	}
}

func FuzzRoomName(f *testing.F) {
	for _, s := range []string{"arena", "a/b", "..", "Δοκιμή", "\xff", "a\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if admit.RoomName(s) != nil {
			return
		}
		if strings.ContainsAny(s, "/%?#\\ \n\x00<>&\"'") || strings.HasPrefix(s, ".") || len(s) > admit.MaxRoomNameBytes {
			t.Errorf("accepted %q", s)
		}
	})
}
