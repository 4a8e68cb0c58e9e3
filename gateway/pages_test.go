package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	for name, text := range map[string]string{
		filepath.Join(dir, "index.html"):             "<h1>hello</h1>",
		filepath.Join(dir, "assets", "app-Xy12.js"):  "let x",
		filepath.Join(dir, "assets", "app-Xy12.css"): "a{}",
		filepath.Join(dir, "sdk", "gatehouse.js"):    "export {}",
		filepath.Join(dir, ".env"):                   "nothing",
		filepath.Join(dir, "notes.doc"):              "nothing",
		secret:                                       "secret",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	e := newEdge(t, "web.dir="+dir)
	for _, c := range []struct {
		path   string
		status int
		kind   string
		cache  string
		body   string
	}{
		{"/", 200, "text/html; charset=utf-8", "no-cache", "<h1>hello</h1>"},
		{"/index.html", 200, "text/html; charset=utf-8", "no-cache", "<h1>hello</h1>"},
		{"/?transport=ws", 200, "text/html; charset=utf-8", "no-cache", "<h1>hello</h1>"},
		{"/assets/app-Xy12.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "let x"},
		{"/assets/app-Xy12.css", 200, "text/css; charset=utf-8", "public, max-age=31536000, immutable", "a{}"},
		{"/sdk/gatehouse.js", 200, "text/javascript; charset=utf-8", "no-cache", "export {}"},
		{"/assets", 404, "", "", ""},
		{"/assets/", 404, "", "", ""},
		{"/missing.js", 404, "", "", ""},
		{"/.env", 404, "", "", ""},
		{"/notes.doc", 404, "", "", ""},
		{"/link.txt", 404, "", "", ""},
		{"/..%2f..%2fetc%2fpasswd.txt", 404, "", "", ""},
		{"/%2e%2e/secret.txt", 404, "", "", ""},
		{"/index.html%00.js", 404, "", "", ""},
	} {
		w, body := e.get(c.path)
		h := w.Header
		if w.StatusCode != c.status || strings.Contains(body, "secret") {
			t.Errorf("%s: status %d, want %d: %s", c.path, w.StatusCode, c.status, body)
			continue
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", c.path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: may be sniffed", c.path)
		}
		if c.status == 200 && (h.Get("Content-Type") != c.kind || h.Get("Cache-Control") != c.cache || body != c.body) {
			t.Errorf("%s: %q, %q, %q", c.path, h.Get("Content-Type"), h.Get("Cache-Control"), body)
		}
	}
	if w, body := e.do("HEAD", e.base()+"/", ""); w.StatusCode != 200 || body != "" || w.Header.Get("Content-Length") != "14" {
		t.Errorf("HEAD: %d %q", w.StatusCode, body)
	}
	if w, _ := e.do("POST", e.base()+"/", ""); w.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.StatusCode)
	}
}

func TestWithoutPagesTheServerSaysHowToBuildThem(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		e := newEdge(t, "web.dir="+dir)
		if w, body := e.get("/"); w.StatusCode != 200 || !strings.Contains(body, "make web") || w.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%q: %d %s", dir, w.StatusCode, body)
		}
		if status := e.status("/app.js"); status != 404 {
			t.Errorf("%q: /app.js %d", dir, status)
		}
	}
}
