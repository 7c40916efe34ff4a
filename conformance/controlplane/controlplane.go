package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The users of a run, as the audit log names them. The components' names are upstream's.
const (
	userDriver      = "user"
	userDrain       = "drain"
	userKubelet     = "kubelet"
	userDescheduler = "descheduler"
	groupMasters    = "system:masters"
)

// The audit log holds every write to the objects that actions are about, with bodies: a binding names its node there.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: RequestResponse
  resources:
  - {group: "", resources: [pods, pods/binding, pods/eviction, pods/status, nodes]}
  - {group: apps, resources: [deployments, deployments/scale, replicasets]}
- level: None
`

// controlPlane is a real control plane on loopback.
type controlPlane struct {
	dir       string
	binaries  string
	processes *processes
	cluster   *authority
	front     *authority
	server    string
	auditLog  string
}

// startControlPlane starts etcd, the API server, the controller manager and the scheduler, and waits until they serve.
func startControlPlane(ctx context.Context, dir, binaries string, managerFlags []string) (*controlPlane, error) {
	plane := &controlPlane{dir: dir, binaries: binaries, processes: &processes{dir: dir}}
	plane.auditLog = filepath.Join(dir, "audit.log")
	steps := []func() error{
		plane.makeAuthorities,
		plane.startStore,
		func() error { return plane.waitReady(ctx, time.Minute) },
		func() error { return plane.startManager(managerFlags) },
		plane.startScheduler,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			plane.processes.stopAll()
			return nil, err
		}
	}
	return plane, nil
}

// schedulerLog is where the scheduler says what it takes up.
func (c *controlPlane) schedulerLog() string { return c.file("kube-scheduler.log") }

func (c *controlPlane) file(name string) string { return filepath.Join(c.dir, name) }

func (c *controlPlane) makeAuthorities() (err error) {
	if c.cluster, err = newAuthority(c.dir, "cluster"); err != nil {
		return err
	}
	if c.front, err = newAuthority(c.dir, "front"); err != nil {
		return err
	}
	if err = os.WriteFile(c.file("audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	return writeServiceAccountKey(c.file("service-accounts.key"))
}

// startStore starts etcd and the API server on it.
func (c *controlPlane) startStore() error {
	ports := make([]int, 3)
	for i := range ports {
		port, err := freePort()
		if err != nil {
			return err
		}
		ports[i] = port
	}
	client, peer := loopback("http", ports[0]), loopback("http", ports[1])
	if err := c.processes.start("etcd", "etcd",
		"--data-dir", c.file("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
	); err != nil {
		return err
	}
	c.server = loopback("https", ports[2])
	return c.startServer(client, ports[2])
}

func (c *controlPlane) startServer(store string, port int) error {
	serving, err := c.cluster.issue("kube-apiserver", "")
	if err != nil {
		return err
	}
	proxy, err := c.front.issue("front-proxy-client", "")
	if err != nil {
		return err
	}
	return c.processes.start("kube-apiserver", filepath.Join(c.binaries, "kube-apiserver"),
		"--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--tls-cert-file", serving.certificate, "--tls-private-key-file", serving.key,
		"--client-ca-file", c.cluster.file(), "--authorization-mode", "RBAC",
		"--service-cluster-ip-range", "10.0.0.0/24",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", c.file("service-accounts.key"),
		"--service-account-signing-key-file", c.file("service-accounts.key"),
		"--requestheader-client-ca-file", c.front.file(), "--requestheader-allowed-names", "front-proxy-client",
		"--requestheader-username-headers", "X-Remote-User", "--requestheader-group-headers", "X-Remote-Group",
		"--requestheader-extra-headers-prefix", "X-Remote-Extra-",
		"--proxy-client-cert-file", proxy.certificate, "--proxy-client-key-file", proxy.key,
		"--audit-policy-file", c.file("audit-policy.yaml"), "--audit-log-path", c.auditLog,
	)
}

func (c *controlPlane) startManager(flags []string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	config, err := c.kubeconfig("system:kube-controller-manager", "")
	if err != nil {
		return err
	}
	args := []string{
		"--kubeconfig", config, "--authentication-kubeconfig", config, "--authorization-kubeconfig", config,
		"--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port), "--leader-elect=false",
		"--use-service-account-credentials=true", "--root-ca-file", c.cluster.file(),
		"--service-account-private-key-file", c.file("service-accounts.key"),
	}
	name := "kube-controller-manager"
	return c.processes.start(name, filepath.Join(c.binaries, name), append(args, flags...)...)
}

func (c *controlPlane) startScheduler() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	config, err := c.kubeconfig("system:kube-scheduler", "")
	if err != nil {
		return err
	}
	return c.processes.start("kube-scheduler", filepath.Join(c.binaries, "kube-scheduler"),
		"--kubeconfig", config, "--authentication-kubeconfig", config, "--authorization-kubeconfig", config,
		"--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port), "--leader-elect=false",
		"--v", "3", // tells which pod it takes up when
	)
}

// startDescheduler starts the descheduler with the policy of the case.
func (c *controlPlane) startDescheduler(policy []byte, interval time.Duration) error {
	if err := os.WriteFile(c.file("descheduler-policy.yaml"), policy, 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	config, err := c.kubeconfig(userDescheduler, groupMasters)
	if err != nil {
		return err
	}
	return c.processes.start("descheduler", filepath.Join(c.binaries, "descheduler"),
		"--kubeconfig", config, "--policy-config-file", c.file("descheduler-policy.yaml"),
		"--descheduling-interval", interval.String(), "--bind-address", "127.0.0.1",
		"--secure-port", strconv.Itoa(port), "--v", "3",
	)
}

// kubeconfig writes the configuration of a user and returns its path.
func (c *controlPlane) kubeconfig(user, group string) (string, error) {
	client, err := c.cluster.issue(user, group)
	if err != nil {
		return "", err
	}
	path := c.file(fileName(user) + ".kubeconfig")
	return path, writeKubeconfig(path, c.server, c.cluster.file(), client)
}

// restConfig is how the driver acts as one of its users.
func (c *controlPlane) restConfig(user string) (*rest.Config, error) {
	path, err := c.kubeconfig(user, groupMasters)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 500, 1000
	return config, nil
}

func (c *controlPlane) client(user string) (*kubernetes.Clientset, error) {
	config, err := c.restConfig(user)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func (c *controlPlane) waitReady(ctx context.Context, limit time.Duration) error {
	client, err := c.client(userDriver)
	if err != nil {
		return err
	}
	return eventually(ctx, limit, "the API server is ready", func() bool {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
	})
}

func loopback(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

// eventually waits until the condition holds; an error names it.
func eventually(ctx context.Context, limit time.Duration, what string, holds func() bool) error {
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s still not so: %s", limit, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}
