package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

const sampleWindow = 15 * time.Second // metrics-server's default resolution

// phase is a share of the request that pods use from some age on.
type phase struct {
	Percent int     `json:"percent"`
	ForS    float64 `json:"for_s"` // 0: from here on for ever
}

// meter serves the metrics API of a case: what pods use is a function of their age, or a level that events set.
type meter struct {
	client   kubernetes.Interface
	kubelets *kubelets

	mutex  sync.Mutex
	phases []phase
}

func (m *meter) set(phases []phase) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.phases = phases
}

func (m *meter) percent(age time.Duration) int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, current := range m.phases {
		length := time.Duration(current.ForS * float64(time.Second))
		if current.ForS == 0 || age < length {
			return current.Percent
		}
		age -= length
	}
	return 0
}

// serve answers on loopback until the context ends, and registers itself with the API server's aggregator.
func (m *meter) serve(ctx context.Context, plane *controlPlane) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	serving, err := plane.cluster.issue("metrics", "")
	if err != nil {
		return err
	}
	certificate, err := tls.LoadX509KeyPair(serving.certificate, serving.key)
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr: fmt.Sprintf("127.0.0.1:%d", port), Handler: http.HandlerFunc(m.answer),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
	go func() { _ = server.ListenAndServeTLS("", "") }()
	go func() { <-ctx.Done(); _ = server.Close() }()
	return m.register(ctx, plane, port)
}

// register points the aggregator to this process: a Service without cluster address, named after the host it means.
func (m *meter) register(ctx context.Context, plane *controlPlane, port int) error {
	service := &core.Service{
		ObjectMeta: meta.ObjectMeta{Name: "metrics", Namespace: "kube-system"},
		Spec:       core.ServiceSpec{Type: core.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if _, err := m.client.CoreV1().Services("kube-system").Create(ctx, service, meta.CreateOptions{}); err != nil {
		return err
	}
	config, err := plane.restConfig(userDriver)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "insecureSkipTLSVerify": true,
			"groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"service": map[string]any{"name": "metrics", "namespace": "kube-system", "port": int64(port)},
		},
	}}
	if _, err := client.Resource(services).Create(ctx, object, meta.CreateOptions{}); err != nil {
		return err
	}
	return eventually(ctx, time.Minute, "the metrics API is served", func() bool {
		path := "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
		return m.client.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Error() == nil
	})
}

func (m *meter) answer(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	var body any
	switch {
	case len(parts) == 6 && parts[5] == "pods":
		body = m.podMetrics(request.Context(), parts[4], request.URL.Query().Get("labelSelector"))
	case len(parts) == 3:
		body = resourceList()
	default:
		writer.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(writer).Encode(body)
}

func resourceList() any {
	return map[string]any{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1",
		"resources": []any{map[string]any{
			"name": "pods", "singularName": "", "namespaced": true, "kind": "PodMetrics",
			"verbs": []string{"get", "list"},
		}},
	}
}

// podMetrics lists the pods that run, each with what it uses now.
func (m *meter) podMetrics(ctx context.Context, namespace, selector string) any {
	items := []any{}
	pods, err := m.client.CoreV1().Pods(namespace).List(ctx, meta.ListOptions{LabelSelector: selector})
	if err == nil {
		for i := range pods.Items {
			if since, runs := m.kubelets.runningSince(pods.Items[i].UID); runs {
				items = append(items, m.podSample(&pods.Items[i], time.Since(since)))
			}
		}
	}
	return map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": items}
}

func (m *meter) podSample(pod *core.Pod, age time.Duration) any {
	containers := []any{}
	for _, container := range pod.Spec.Containers {
		milli := container.Resources.Requests.Cpu().MilliValue() * int64(m.percent(age)) / 100
		usage := map[string]any{"cpu": fmt.Sprintf("%dm", milli), "memory": "1Mi"}
		containers = append(containers, map[string]any{"name": container.Name, "usage": usage})
	}
	return map[string]any{
		"metadata":  map[string]any{"name": pod.Name, "namespace": pod.Namespace, "labels": pod.Labels},
		"timestamp": time.Now().UTC().Format(time.RFC3339), "window": sampleWindow.String(), "containers": containers,
	}
}
