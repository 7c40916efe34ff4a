// Command deployments records what the real Deployment controller writes, sync by sync, while ReplicaSets report pods that
// come and go and users change the Deployment.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	defaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	"k8s.io/kubernetes/pkg/controller/deployment"

	"kubeproof.dev/conformance/shared/bubble"
	"kubeproof.dev/conformance/shared/lines"
)

const mostSyncs = 60

type rollout struct {
	Deployment appsv1.Deployment `json:"deployment"`
	Sets       []oldSet          `json:"sets"`     // oldest first
	Reported   int32             `json:"reported"` // status.replicas of the Deployment
	Steps      []step            `json:"steps"`    // each happens before one sync
	Settle     bool              `json:"settle"`   // afterwards all pods come up, until nothing changes
}

type oldSet struct {
	Template  int    `json:"template"`
	Replicas  int32  `json:"replicas"`
	Exists    int32  `json:"exists"`
	Available int32  `json:"available"`
	Desired   string `json:"desired"` // annotations; empty: absent
	Max       string `json:"max"`
}

type step struct {
	Replicas *int32                     `json:"replicas"`
	Template *int                       `json:"template"`
	Paused   *bool                      `json:"paused"`
	Strategy *appsv1.DeploymentStrategy `json:"strategy"`
	Wait     int                        `json:"wait"`  // seconds
	Moves    [][3]int32                 `json:"moves"` // what happens to the pods of the first, second … ReplicaSet
}

type recorder struct {
	world      *api
	controller *deployment.DeploymentController
	ending     map[int]bool // ReplicaSets with pods that are terminating
	begun      time.Time
}

func main() {
	world, factory := newAPI()
	controller, err := newController(factory, world.client)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines.Run(func(line []byte) (decision any, err error) {
		var given rollout
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		bubble.Run(func() {
			run := &recorder{world: world, controller: controller, ending: map[int]bool{}, begun: time.Now()}
			decision, err = run.record(&given)
		})
		return decision, err
	})
}

// record returns one entry a sync: writes, deletions, and the conditions.
func (run *recorder) record(given *rollout) (any, error) {
	run.start(given)
	decisions := [][]any{}
	for _, step := range given.Steps {
		run.apply(&step)
		entry, _, err := run.sync()
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, entry)
	}
	for count := 0; given.Settle && count < mostSyncs; count++ {
		moved := run.apply(&step{Moves: [][3]int32{{99, 99, 1}}})
		entry, wrote, err := run.sync()
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, entry)
		if !moved && !wrote {
			break
		}
	}
	return decisions, nil
}

func (run *recorder) start(given *rollout) {
	for _, store := range []cache.Indexer{run.world.deployments, run.world.sets, run.world.pods} {
		store.Replace(nil, "")
	}
	run.world.created = 0
	given.Deployment.Namespace, given.Deployment.UID, given.Deployment.Generation = namespace, "deployment", 1
	given.Deployment.Status.Replicas = given.Reported
	defaults.SetObjectDefaults_Deployment(&given.Deployment)
	run.world.deployments.Add(&given.Deployment)
	for index := range given.Sets {
		set := setOf(&given.Deployment, &given.Sets[index], index)
		run.world.add(set)
		run.world.setPods(set, set.Status.Replicas > 0)
	}
	run.world.take()
}

// setOf is a ReplicaSet that the controller made earlier.
func setOf(owner *appsv1.Deployment, old *oldSet, index int) *appsv1.ReplicaSet {
	kind := appsv1.SchemeGroupVersion.WithKind("Deployment")
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("old-%d", index), Namespace: namespace,
		Annotations:     map[string]string{revisionNote: fmt.Sprint(index + 1)},
		Labels:          map[string]string{"app": "a"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
	}}
	for key, value := range map[string]string{desiredNote: old.Desired, maxNote: old.Max} {
		if value != "" {
			set.Annotations[key] = value
		}
	}
	owner.Spec.Template.DeepCopyInto(&set.Spec.Template)
	set.Spec.Template.Spec.Containers[0].Image = image(old.Template)
	set.Spec.Selector, set.Spec.Replicas = owner.Spec.Selector, &old.Replicas
	set.Status = appsv1.ReplicaSetStatus{Replicas: old.Exists, ReadyReplicas: old.Available, AvailableReplicas: old.Available, ObservedGeneration: 1}
	return set
}

func image(template int) string { return fmt.Sprintf("v%d", template) }

// apply lets the time pass, changes the Deployment, moves the pods, and tells whether pods moved.
func (run *recorder) apply(step *step) bool {
	time.Sleep(time.Duration(step.Wait) * time.Second)
	owner := run.world.deployment()
	changed := step.Replicas != nil || step.Template != nil || step.Paused != nil || step.Strategy != nil
	if step.Replicas != nil {
		owner.Spec.Replicas = step.Replicas
	}
	if step.Template != nil {
		owner.Spec.Template.Spec.Containers[0].Image = image(*step.Template)
	}
	if step.Paused != nil {
		owner.Spec.Paused = *step.Paused
	}
	if step.Strategy != nil {
		owner.Spec.Strategy = *step.Strategy
	}
	if changed {
		owner.Generation++
		defaults.SetObjectDefaults_Deployment(owner)
		run.world.deployments.Update(owner)
	}
	return run.move(step.Moves)
}

// move is the ReplicaSet controller and the kubelets: of each ReplicaSet at most so many pods are created or deleted, so
// many become available (or, if negative, stop to be), and deleted ones are gone or still terminating.
func (run *recorder) move(moves [][3]int32) bool {
	moved := false
	for _, set := range run.world.inOrder() {
		if len(moves) == 0 {
			break
		}
		amounts := moves[number(set)%len(moves)]
		status := set.Status
		change := clamp(*set.Spec.Replicas-status.Replicas, -amounts[0], amounts[0])
		status.Replicas += change
		status.AvailableReplicas = clamp(status.AvailableReplicas+amounts[1], 0, status.Replicas)
		status.ReadyReplicas, status.ObservedGeneration = status.AvailableReplicas, set.Generation
		ending := (run.ending[number(set)] || change < 0) && amounts[2] == 0
		moved = moved || status.Replicas != set.Status.Replicas ||
			status.AvailableReplicas != set.Status.AvailableReplicas || ending != run.ending[number(set)]
		run.ending[number(set)] = ending
		set = set.DeepCopy()
		set.Status = status
		run.world.sets.Update(set)
		run.world.setPods(set, status.Replicas > 0 || ending)
	}
	return moved
}

func clamp(value, least, most int32) int32 {
	if value < least {
		return least
	}
	if value > most {
		return most
	}
	return value
}

// sync runs the controller once and tells whether it wrote to a ReplicaSet.
func (run *recorder) sync() ([]any, bool, error) {
	owner := run.world.deployment()
	err := syncDeployment(run.controller, context.Background(), namespace+"/"+owner.Name)
	writes, deleted := run.world.take()
	return []any{writes, deleted, run.conditions()}, len(writes)+len(deleted) > 0, err
}

// conditions tells whether the Deployment is available, and of the condition Progressing the reason and the second of the
// last update.
func (run *recorder) conditions() []any {
	told := []any{false}
	for _, condition := range run.world.deployment().Status.Conditions {
		switch condition.Type {
		case appsv1.DeploymentAvailable:
			told[0] = condition.Status == corev1.ConditionTrue
		case appsv1.DeploymentProgressing:
			told = append(told, condition.Reason, int(condition.LastUpdateTime.Sub(run.begun).Seconds()))
		}
	}
	return told
}
