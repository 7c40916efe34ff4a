// Records which pods a descheduling cycle may evict: the real profile with its plugins and the default evictor, the
// real pod evictor with its limits, on a fake client and on caches that are filled by hand.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/profile"

	"kubeproof.dev/conformance/shared/descheduling"
	"kubeproof.dev/conformance/shared/lines"

	_ "unsafe" // for go:linkname
)

// decodePolicy is what the descheduler reads its policy file with: decoding, defaults, validation.
//
//go:linkname decodePolicy sigs.k8s.io/descheduler/pkg/descheduler.decode
func decodePolicy(file string, text []byte, client clientset.Interface, registry pluginregistry.Registry) (*api.DeschedulerPolicy, error)

func main() {
	klog.SetLogger(logr.Discard())
	descheduler.SetupPlugins()
	cluster := newCluster()
	lines.Run(func(line []byte) (any, error) {
		given := &descheduling.Case{}
		if err := json.Unmarshal(line, given); err != nil {
			return nil, err
		}
		policy, err := readPolicy(given, cluster.client)
		if err != nil {
			return nil, err
		}
		if err := cluster.take(given); err != nil {
			return nil, err
		}
		return descheduling.Outcomes(line, func(random *rand.Rand) ([]int, error) {
			return cycle(cluster, policy, random)
		})
	})
}

func readPolicy(given *descheduling.Case, client clientset.Interface) (*api.DeschedulerPolicy, error) {
	document, err := given.Document(given.Older)
	if err != nil {
		return nil, err
	}
	return decodePolicy("policy", document, client, pluginregistry.PluginRegistry)
}

// cycle runs every profile once, as the descheduler's loop does, and returns the evicted pods by group.
func cycle(cluster *cluster, policy *api.DeschedulerPolicy, random *rand.Rand) ([]int, error) {
	factory := informers.NewSharedInformerFactory(cluster.client, 0)
	podsOnNode, err := podutil.BuildGetPodsAssignedToNodeFunc(factory.Core().V1().Pods().Informer())
	if err != nil {
		return nil, err
	}
	if err := cluster.fill(factory, random); err != nil {
		return nil, err
	}
	selector := ""
	if policy.NodeSelector != nil {
		selector = *policy.NodeSelector
	}
	nodes, err := nodeutil.ReadyNodes(context.Background(), cluster.client, factory.Core().V1().Nodes().Lister(), selector)
	if err != nil || len(nodes) <= 1 {
		return cluster.lost, err
	}
	evictor := evictions.NewPodEvictor(cluster.client, "policy/v1", true, policy.MaxNoOfPodsToEvictPerNode,
		policy.MaxNoOfPodsToEvictPerNamespace, nodes, false, &events.FakeRecorder{})
	for _, config := range policy.Profiles {
		if err := run(config, cluster.client, factory, evictor, podsOnNode, nodes); err != nil {
			return nil, err
		}
	}
	return cluster.lost, nil
}

// run is one profile: first its Deschedule plugins, then its Balance plugins.
func run(config api.DeschedulerProfile, client clientset.Interface, factory informers.SharedInformerFactory,
	evictor *evictions.PodEvictor, podsOnNode podutil.GetPodsAssignedToNodeFunc, nodes []*v1.Node) error {
	one, err := profile.NewProfile(config, pluginregistry.PluginRegistry,
		profile.WithClientSet(client), profile.WithSharedInformerFactory(factory),
		profile.WithPodEvictor(evictor), profile.WithGetPodsAssignedToNodeFnc(podsOnNode))
	if err != nil {
		return err
	}
	if status := one.RunDeschedulePlugins(context.Background(), nodes); status != nil && status.Err != nil {
		return fmt.Errorf("deschedule: %w", status.Err)
	}
	if status := one.RunBalancePlugins(context.Background(), nodes); status != nil && status.Err != nil {
		return fmt.Errorf("balance: %w", status.Err)
	}
	return nil
}
