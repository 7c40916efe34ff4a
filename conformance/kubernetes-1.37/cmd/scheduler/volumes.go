package main

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	boundByController = "pv.kubernetes.io/bind-completed"
	pause             = 10 * time.Millisecond
	mostPauses        = 500
)

// decideWithVolumes decides with a scheduler of its own: the binder keeps caches that only running informers fill.
func decideWithVolumes(given *Case) (any, error) {
	real, err := build(given.Profile, given.storage()...)
	if err != nil {
		return nil, err
	}
	real.show(given.Pods, given.Nodes)
	stop := make(chan struct{})
	defer close(stop)
	real.informers.Start(stop)
	real.informers.WaitForCacheSync(stop)
	return real.settled(given)
}

// settled asks until three answers in a row are the same: the binder's caches follow the informers a moment later.
func (r *Real) settled(given *Case) (any, error) {
	last, same := "", 0
	var decision Decision
	for i := 0; i < mostPauses && same < 3; i++ {
		time.Sleep(pause)
		attempt, failure := r.attempt(given.Pod)
		decision = Decision{Failed: 1, Chosen: []int{}}
		if failure == nil {
			rows, err := r.rows(attempt, given.Nodes, "VolumeBinding")
			if err != nil {
				return nil, err
			}
			decision = Decision{Rows: rows, Chosen: attempt.best(given.Nodes)}
		}
		text, err := json.Marshal(decision)
		if err != nil {
			return nil, err
		}
		same++
		if string(text) != last {
			last, same = string(text), 1
		}
	}
	return decision, nil
}

// storage returns the volumes, claims and classes with the fields that controllers would have written.
func (c *Case) storage() []runtime.Object {
	found := []runtime.Object{}
	for _, volume := range c.Volumes {
		volume.Status.Phase = corev1.VolumeAvailable
		if volume.Spec.ClaimRef != nil {
			volume.Status.Phase = corev1.VolumeBound
		}
		if volume.Spec.VolumeMode == nil {
			volume.Spec.VolumeMode = ptrTo(corev1.PersistentVolumeFilesystem)
		}
		found = append(found, volume)
	}
	for _, claim := range c.Claims {
		claim.Status.Phase = corev1.ClaimPending
		if claim.Spec.VolumeName != "" {
			claim.Status.Phase = corev1.ClaimBound
			claim.Annotations = map[string]string{boundByController: "yes"}
		}
		if claim.Spec.VolumeMode == nil {
			claim.Spec.VolumeMode = ptrTo(corev1.PersistentVolumeFilesystem)
		}
		found = append(found, claim)
	}
	for _, class := range c.Classes {
		if class.VolumeBindingMode == nil {
			class.VolumeBindingMode = ptrTo(storagev1.VolumeBindingImmediate)
		}
		found = append(found, class)
	}
	return found
}

func ptrTo[T any](value T) *T { return &value }
