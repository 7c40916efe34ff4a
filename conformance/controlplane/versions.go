package main

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"strings"
)

// versions are those of the programs that ran, as they were built.
func versions(binaries string, withDescheduler bool) map[string]string {
	found := map[string]string{"kubernetes": moduleVersion(filepath.Join(binaries, "kube-apiserver"))}
	if withDescheduler {
		found["descheduler"] = moduleVersion(filepath.Join(binaries, "descheduler"))
	}
	if output, err := exec.Command("etcd", "--version").Output(); err == nil {
		first, _, _ := strings.Cut(string(output), "\n")
		found["etcd"] = strings.TrimPrefix(first, "etcd Version: ")
	}
	return found
}

func moduleVersion(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return info.Main.Version
}
