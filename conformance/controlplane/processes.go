package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// processes are what one run has started, last started first to be stopped.
type processes struct {
	dir     string
	running []*exec.Cmd
}

// start runs a program with its output in <dir>/<name>.log. It dies with the driver.
func (p *processes) start(name, path string, args ...string) error {
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(path, args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.running = append(p.running, command)
	return nil
}

// stopAll ends every process, politely at first.
func (p *processes) stopAll() {
	for i := len(p.running) - 1; i >= 0; i-- {
		stop(p.running[i])
	}
	p.running = nil
}

func stop(command *exec.Cmd) {
	gone := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(gone)
	}()
	_ = command.Process.Signal(syscall.SIGTERM)
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		_ = command.Process.Kill()
		<-gone
	}
}

// freePort is a loopback port that nobody listens on at the moment.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
