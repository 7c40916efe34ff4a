// Command controlplane runs a case of Kubeproof on a real control plane and records who did what.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	planFile := flag.String("plan", "", "what to do, as tools/control_plane.py plan prints it")
	binaries := flag.String("binaries", "", "folder of kube-apiserver, kube-controller-manager, kube-scheduler, descheduler")
	out := flag.String("out", "", "where the recorded run goes")
	keep := flag.Bool("keep", false, "keep the folder of the run with all logs")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := record(ctx, *planFile, *binaries, *out, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, planFile, binaries, out string, keep bool) error {
	read, err := readPlan(planFile)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "controlplane-"+read.Case+"-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(os.Stderr, "controlplane: logs in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, seconds(read.LimitS)+2*time.Minute)
	defer cancel()
	actions, err := runCase(limited, read, dir, binaries)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "controlplane: %s: %d actions in %.0f s\n", read.Case, len(actions), time.Since(began).Seconds())
	return write(out, read, versions(binaries, len(read.Shortened) > 0), actions)
}

// write writes the run as JSON lines: a header, then one action per line.
func write(path string, read *plan, built map[string]string, actions []action) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	header := map[string]any{
		"case": read.Case, "versions": built, "target": read.Target, "stop": read.Stop,
		"kubelet": map[string]float64{
			"startup_s": read.StartupS, "ending_s": read.EndingS, "admission_s": read.AdmissionS,
		},
		"shortened": read.Shortened, "manager_flags": read.ManagerFlags,
	}
	if err := lines.Encode(header); err != nil {
		return err
	}
	for _, made := range actions {
		if err := lines.Encode(made); err != nil {
			return err
		}
	}
	return nil
}
