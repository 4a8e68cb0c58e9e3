package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	serverCore = 0
	clientCore = 1
)

// pinned marks a process that has been started on its core.
const pinned = "BENCH_PINNED"

// pinSelf starts this program again on the client's core, where all its threads
// are born, and returns only in that second process. On a machine of one core
// nothing is pinned.
func pinSelf() error {
	if runtime.NumCPU() < 2 || os.Getenv(pinned) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := setCore(clientCore); err != nil {
		return err
	}
	// exec keeps the affinity of the calling thread for the whole new process.
	return unix.Exec(self, os.Args, append(os.Environ(), pinned+"=1"))
}

func setCore(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to core %d: %w", core, err)
	}
	return nil
}

// startOnServerCore starts a command that inherits the affinity of the thread
// which forks it.
func startOnServerCore(cmd *exec.Cmd) error {
	if runtime.NumCPU() < 2 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := setCore(serverCore); err != nil {
		return err
	}
	err := cmd.Start()
	if back := setCore(clientCore); err == nil {
		err = back
	}
	return err
}

// cpuTime returns the CPU time that a process has used, from /proc/PID/stat:
// utime and stime in ticks of 10 ms.
func cpuTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name before may hold spaces
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields after the name", pid, len(f))
	}
	var ticks int64
	for _, s := range f[11:13] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
