"""A small cluster with a promise, for tests."""

PROMISED = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1, resources: {requests: {cpu: "1", memory: 64Mi}, limits: {cpu: "1"}}}]}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: promised}
spec:
  start: deployed
  intents:
  - answeredInTime: {target: Deployment/shop/web, atLeast: 99%}
  - minReady: {target: Deployment/shop/web, count: 1, when: always}
  quantify:
    cost: {nodeHour: 0.2, podHour: 0.05}
  workload:
    services:
    - target: Deployment/shop/web
      arrivals: [{poisson: {rate: 15}}]
      cpuPerRequest: 40m
      deadline: 400ms
"""
