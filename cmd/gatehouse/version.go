package main

import (
	"fmt"
	"runtime/debug"

	"github.com/gatehouse/gatehouse/wire"
)

type versionCmd struct{}

// Run prints what the build itself knows: there is no version of our own to
// forget.
func (versionCmd) Run(p *process) error {
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
	_, err := fmt.Fprintf(p.out, "gatehouse %s (revision %s%s), protocol versions %v\n", version, revision, changed, wire.Versions())
	return err
}
