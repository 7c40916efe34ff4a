// The bubble of fake time needs the timers of today's Go, which a go.mod this old turns off.
//
//go:debug asynctimerchan=0
package main

import corev1 "k8s.io/api/core/v1"

// sidecar is an init container that runs once: this version has no other.
func sidecar(name string) corev1.Container { return corev1.Container{Name: name} }
