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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/profile"
	"sigs.k8s.io/descheduler/pkg/framework/types"

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
	document, err := given.Document(given.Newer)
	if err != nil {
		return nil, err
	}
	return decodePolicy("policy", document, client, pluginregistry.PluginRegistry)
}

// cycle runs every profile once, as the descheduler's loop does, and returns the evicted pods by group.
func cycle(cluster *cluster, policy *api.DeschedulerPolicy, random *rand.Rand) ([]int, error) {
	ctx := context.Background()
	factory := informers.NewSharedInformerFactory(cluster.client, 0)
	pods := factory.Core().V1().Pods().Informer()
	podsOnNode, err := podutil.BuildGetPodsAssignedToNodeFunc(pods)
	if err != nil {
		return nil, err
	}
	limits := evictions.NewOptions().WithDryRun(true).
		WithMaxPodsToEvictPerNode(policy.MaxNoOfPodsToEvictPerNode).
		WithMaxPodsToEvictPerNamespace(policy.MaxNoOfPodsToEvictPerNamespace).
		WithMaxPodsToEvictTotal(policy.MaxNoOfPodsToEvictTotal)
	evictor, err := evictions.NewPodEvictor(ctx, cluster.client, &events.FakeRecorder{}, pods,
		features.DefaultMutableFeatureGate, limits)
	if err != nil {
		return nil, err
	}
	profiles, err := build(ctx, policy, cluster.client, factory, evictor, podsOnNode)
	if err != nil {
		return nil, err
	}
	if err := cluster.fill(factory, random); err != nil {
		return nil, err
	}
	nodes, err := readyNodes(factory, policy)
	if err != nil || len(nodes) <= 1 {
		return cluster.lost, err
	}
	return cluster.lost, runAll(ctx, profiles, nodes)
}

// runner is a profile.
type runner interface {
	RunDeschedulePlugins(ctx context.Context, nodes []*v1.Node) *types.Status
	RunBalancePlugins(ctx context.Context, nodes []*v1.Node) *types.Status
}

func build(ctx context.Context, policy *api.DeschedulerPolicy, client clientset.Interface,
	factory informers.SharedInformerFactory, evictor *evictions.PodEvictor,
	podsOnNode podutil.GetPodsAssignedToNodeFunc) ([]runner, error) {
	profiles := []runner{}
	for number, config := range policy.Profiles {
		one, err := profile.NewProfile(ctx, config, pluginregistry.PluginRegistry,
			profile.WithClientSet(client), profile.WithSharedInformerFactory(factory),
			profile.WithPodEvictor(evictor), profile.WithGetPodsAssignedToNodeFnc(podsOnNode),
			profile.WithProfileInstanceID(fmt.Sprint(number)))
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, one)
	}
	return profiles, nil
}

// readyNodes are those that the policy selects, from the cache.
func readyNodes(factory informers.SharedInformerFactory, policy *api.DeschedulerPolicy) ([]*v1.Node, error) {
	selector := labels.Everything()
	if policy.NodeSelector != nil {
		parsed, err := labels.Parse(*policy.NodeSelector)
		if err != nil {
			return nil, err
		}
		selector = parsed
	}
	items, err := factory.Core().V1().Nodes().Lister().List(selector)
	if err != nil {
		return nil, err
	}
	nodes := make([]any, 0, len(items))
	for _, node := range items {
		nodes = append(nodes, node)
	}
	return nodeutil.ReadyNodesFromInterfaces(nodes)
}

// runAll runs the Deschedule plugins of all profiles, then the Balance plugins of all.
func runAll(ctx context.Context, profiles []runner, nodes []*v1.Node) error {
	for _, one := range profiles {
		if status := one.RunDeschedulePlugins(ctx, nodes); status != nil && status.Err != nil {
			return fmt.Errorf("deschedule: %w", status.Err)
		}
	}
	for _, one := range profiles {
		if status := one.RunBalancePlugins(ctx, nodes); status != nil && status.Err != nil {
			return fmt.Errorf("balance: %w", status.Err)
		}
	}
	return nil
}
