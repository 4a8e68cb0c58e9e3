package gateway

import (
	"bytes"
	_ "embed"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// nopages is what is served where the pages have not been built.
//
//go:embed nopages.html
var nopages []byte

// contentTypes by the end of a file's name. The tables of the machine are not
// asked: a script with another type is refused by browsers, and they may say
// anything.
var contentTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".webmanifest": "application/manifest+json",
	".wasm":        "application/wasm",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".jpg":         "image/jpeg",
	".webp":        "image/webp",
	".ico":         "image/x-icon",
	".woff2":       "font/woff2",
	".mp3":         "audio/mpeg",
	".ogg":         "audio/ogg",
	".txt":         "text/plain; charset=utf-8",
}

// policy lets pages load and reach this server only. Nobody may frame them: a
// click there would be a move in somebody's game.
const policy = "default-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages serves the built pages of web/.
type pages struct {
	root  *os.Root // nil: not built
	files fs.FS
}

// newPages looks for the pages in dir; empty for none. Links out of dir lead
// nowhere.
func newPages(dir string, log *slog.Logger) *pages {
	if dir == "" {
		return &pages{}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Warn("no pages are served: they have not been built", "web.dir", dir, "error", err)
		return &pages{}
	}
	if _, err := fs.Stat(root.FS(), "index.html"); err != nil {
		log.Warn("no pages are served: they have not been built", "web.dir", dir, "error", err)
		_ = root.Close()
		return &pages{}
	}
	return &pages{root: root, files: root.FS()}
}

func (p *pages) close() {
	if p.root != nil {
		_ = p.root.Close()
	}
}

func (p *pages) get(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	name := strings.TrimPrefix(path.Clean("/"+c.Request().URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	if p.root == nil {
		if name != "index.html" {
			return echo.ErrNotFound
		}
		h.Set(echo.HeaderCacheControl, "no-cache")
		return c.Blob(http.StatusOK, contentTypes[".html"], nopages)
	}
	return p.file(c, name)
}

func (p *pages) file(c echo.Context, name string) error {
	kind, known := contentTypes[path.Ext(name)]
	if !known || !fs.ValidPath(name) {
		return echo.ErrNotFound
	}
	f, err := p.files.Open(name)
	if err != nil {
		return echo.ErrNotFound
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return echo.ErrNotFound
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, kind)
	h.Set(echo.HeaderCacheControl, cacheFor(name))
	content, ok := f.(io.ReadSeeker)
	if !ok {
		b, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		content = bytes.NewReader(b)
	}
	http.ServeContent(c.Response(), c.Request(), name, modified(info), content)
	return nil
}

// cacheFor lets what has its hash in its name, everything in assets/, stay for
// ever; the rest is asked for again.
func cacheFor(name string) string {
	if strings.HasPrefix(name, "assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// modified leaves out times that a reproducible build has set to nothing: they
// would make a new page look unchanged.
func modified(info fs.FileInfo) time.Time {
	if t := info.ModTime(); t.Unix() > 1 {
		return t
	}
	return time.Time{}
}
