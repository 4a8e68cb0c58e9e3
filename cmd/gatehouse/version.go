package main

import (
	"fmt"
	"runtime/debug"

	"github.com/gatehouse/gatehouse/wire"
)

// described is what git describe said, where the build was told: scripts/build.sh
// sets it when it links.
var described string

type versionCmd struct{}

func (versionCmd) Run(p *process) error {
	_, err := fmt.Fprintln(p.out, version())
	return err
}

// version says what the build itself knows: there is no number of our own to
// forget.
func version() string {
	version, revision, changed := "unknown", "unknown", ""
	if b, ok := debug.ReadBuildInfo(); ok {
		version = b.Main.Version
		for _, s := range b.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed"
			}
		}
	}
	if described != "" {
		revision, changed = described, ""
	}
	return fmt.Sprintf("gatehouse %s (revision %s%s), protocol versions %v", version, revision, changed, wire.Versions())
}
