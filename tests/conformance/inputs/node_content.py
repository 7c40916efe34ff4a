"""Random scheduling decisions about what nodes have or hold: host ports and images."""

from __future__ import annotations

from random import Random

from tests.conformance.inputs import cluster
from tests.conformance.inputs.cluster import Object
from tests.conformance.inputs.placement import chance

IMAGES = ("a:1", "b:1", "c:1", "h:5/d:latest")
WANTED = (*IMAGES[:3], *IMAGES[:3], "h:5/d", "h:5/d:latest", "e")  # without a tag the latest is meant
SIZES = (10, 24, 300, 1500, 4000)


def ports_and_images(random: Random) -> Object:
    """One pod to be scheduled, with host ports and images that nodes have."""
    case: Object = {"nodes": cluster.nodes(random, 2, 5, ()), "pods": []}
    for node in case["nodes"]:
        node["status"]["images"] = [_listed(random, image) for image in random.sample(IMAGES, random.randint(0, 2))]
    case["pod"] = _with_ports_and_images(random, cluster.pod(random, "p", ()))
    for number in range(random.randint(0, 4)):
        bound = _with_ports_and_images(random, cluster.pod(random, f"e{number}", ()))
        bound["spec"]["nodeName"] = random.choice(case["nodes"])["metadata"]["name"]
        case["pods"].append(bound)
    if chance(random, 15):
        case["profile"] = _profile(random)
    return case


def _listed(random: Random, image: str) -> Object:
    names = [image, f"other/{image}"] if chance(random, 20) else [image]
    return {"names": names, "sizeBytes": random.choice(SIZES) * 1_000_000}


def _with_ports_and_images(random: Random, pod: Object) -> Object:
    spec = pod["spec"]
    spec["containers"] = [_container(random, f"c{number}") for number in range(random.choice((1, 1, 2, 3)))]
    spec["containers"][0]["ports"] = [_port(random)]
    if chance(random, 25):
        spec["initContainers"] = [_init_container(random)]
    if chance(random, 10):
        spec["volumes"] = [{"name": "v", "image": {"reference": random.choice(WANTED)}}]
    if chance(random, 15):
        spec["hostNetwork"] = True
        for container, port in zip(spec["containers"], random.sample((80, 443, 8080), 3), strict=False):
            container["ports"] = [{"containerPort": port} for _ in range(random.randint(0, 1))]
        for container in spec.get("initContainers", ()):
            container["ports"] = [{"containerPort": random.choice((80, 443))}]
    return pod


def _container(random: Random, name: str) -> Object:
    return {"name": name, "image": random.choice(WANTED)}


def _init_container(random: Random) -> Object:
    container = _container(random, "i")
    if chance(random, 60):
        container["restartPolicy"] = "Always"
    if chance(random, 60):
        container["ports"] = [{"containerPort": 81, "hostPort": random.choice((81, 443))}]
    return container


def _port(random: Random) -> Object:
    port: Object = {"containerPort": 80}
    if chance(random, 80):
        port["hostPort"] = random.choice((80, 80, 443))
    if chance(random, 40):
        port["hostIP"] = random.choice(("0.0.0.0", "10.0.0.1", "10.0.0.2"))
    if chance(random, 30):
        port["protocol"] = random.choice(("TCP", "UDP"))
    return port


def _profile(random: Random) -> Object:
    """A profile that weighs images more, or leaves one of the two plugins out."""
    name = random.choice(("ImageLocality", "ImageLocality", "NodePorts"))
    off = {"disabled": [{"name": name}]}
    if name == "NodePorts" or chance(random, 30):
        return {"schedulerName": "default-scheduler", "plugins": {"multiPoint": off}}
    off["enabled"] = [{"name": name, "weight": random.choice((2, 10))}]
    return {"schedulerName": "default-scheduler", "plugins": {"score": off}}
