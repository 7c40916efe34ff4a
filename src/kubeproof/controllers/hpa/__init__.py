"""The HorizontalPodAutoscaler's decision as pure functions, autoscaling/v2.

One sync is `decide.decide`: samples of the pods and a small memory in, replicas, the next memory and the numbers
behind them out. Mirrors `pkg/controller/podautoscaler` of Kubernetes 1.26 to 1.37. The functions know nothing of
states or search; whoever keeps the memory between syncs lets it age with `history.later`.
"""
