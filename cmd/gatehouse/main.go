// Command gatehouse serves multiplayer rooms over WebRTC, WebSocket and ENet,
// and holds the tools around that: tokens, bots, configuration checks. One file
// per subcommand; here is what they share.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gatehouse/gatehouse/configs"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for did not work
	exitUsage  = 2 // the flags or the configuration are wrong; nothing was begun
)

type cli struct {
	Serve   serveCmd   `cmd:"" help:"Run the server."`
	Bot     botCmd     `cmd:"" help:"Let bots play on a server."`
	Token   tokenCmd   `cmd:"" help:"Mint and inspect join tokens."`
	Config  configCmd  `cmd:"" help:"Check and show the configuration."`
	Version versionCmd `cmd:"" help:"Show the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
}

// process is what a subcommand has of the world.
type process struct {
	ctx     context.Context // ends with SIGINT or SIGTERM
	environ []string
	out     io.Writer
	err     io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the process at once
	os.Exit(run(os.Args[1:], &process{ctx: ctx, environ: os.Environ(), out: os.Stdout, err: os.Stderr}))
}

// run parses the arguments, runs the subcommand and returns the exit code.
func run(args []string, p *process) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("gatehouse"),
		kong.Description("Rooms for multiplayer games over WebRTC, WebSocket and ENet.\n\nExit codes: 0 done, 1 failed, 2 wrong flags or configuration."),
		kong.Writers(p.out, p.err),
		kong.Exit(func(code int) { exited = code }),
		kong.Bind(p),
		kong.Vars{"version": version()},
	)
	if err != nil {
		panic(err) // our own struct tags
	}
	k, err := parser.Parse(args)
	switch {
	case exited >= 0: // --help
		return exited
	case err != nil:
		fmt.Fprintf(p.err, "gatehouse: %v\nTry: %s --help\n", err, meant(err))
		return exitUsage
	}
	if err := k.Run(p); err != nil {
		return p.fail(err, k.Selected())
	}
	return exitOK
}

// meant is the command, as far as it could be told, whose flags did not parse.
func meant(err error) string {
	var e *kong.ParseError
	if errors.As(err, &e) {
		for _, at := range slices.Backward(e.Context.Path) {
			if at.Command != nil {
				return at.Command.FullPath()
			}
		}
	}
	return "gatehouse"
}

// fail tells of an error of a command and returns the exit code for it.
func (p *process) fail(err error, command *kong.Node) int {
	var faults configs.Faults
	if errors.As(err, &faults) {
		fmt.Fprintf(p.err, "gatehouse: the configuration has %d fault(s):\n%v\n", len(faults), faults)
		return exitUsage
	}
	fmt.Fprintf(p.err, "gatehouse: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(p.err, "Try: %s --help\n", command.FullPath())
		return exitUsage
	}
	return exitFailed
}

// usageError is an error of the flags that only the subcommand could find.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }
