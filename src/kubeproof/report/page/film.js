// The cluster at any moment of a run, from its first scene and what each step changes. Every so many steps a whole
// scene is kept, so that jumping far back or ahead costs as little as stepping.

const KEYFRAME = 128;
const HEALTH = 0, CORDONED = 1, NO_EXECUTE = 2, WORK = 3, NOMINATED = 4, SPARE = 5, SUCCEEDED = 6, FAILED = 7; // of a node
const EXISTS = 0, DESIRED = 1, REPLICAS = 2, REVISION = 3, LEFT_FAILED = 4; // of a workload
const OWNER = 0, PLACE = 1, PHASE = 2, RESTARTS = 3; // of a pod
const NOWHERE = -1;

function copyOf(scene) {
  return { nodes: scene.nodes.slice(), workloads: scene.workloads.slice(), pods: new Map(scene.pods) };
}

function apply(scene, change) {
  for (const [number, node] of change[0]) scene.nodes[number] = node;
  for (const [number, workload] of change[1]) scene.workloads[number] = workload;
  for (const [name, pod] of change[2]) {
    if (pod === null) scene.pods.delete(name);
    else scene.pods.set(name, pod);
  }
}

class Film {
  constructor(raw) {
    this.keys = raw.keys;
    this.nodes = raw.nodes.map(([name, domains, cpu, memory, pods, taints, place]) => ({ name, domains, cpu, memory, pods, taints, place }));
    this.workloads = raw.workloads.map(([ref, name, family, cpu, memory, place]) => ({ ref, name, family, cpu, memory, place }));
    this.changes = raw.changes;
    this.length = raw.changes.length;
    const scene = { nodes: raw.first[0], workloads: raw.first[1], pods: new Map(raw.first[2]) };
    this.keyframes = [copyOf(scene)];
    this.current = copyOf(scene);
    this.position = 0;
    this.most = { pods: raw.nodes.map(() => 0), waiting: 0 }; // how much room the drawing needs at most
    this.busy = new Set(); // nodes that have pods or change at some time
    this.watch(copyOf(scene));
  }

  // One walk through the run: keyframes, and how full everything gets.
  watch(scene) {
    const counts = this.nodes.map(() => 0);
    let waiting = 0;
    const count = (pod, by) => {
      if (pod[PLACE] === NOWHERE) waiting += by;
      else {
        counts[pod[PLACE]] += by;
        this.most.pods[pod[PLACE]] = Math.max(this.most.pods[pod[PLACE]], counts[pod[PLACE]]);
        this.busy.add(pod[PLACE]);
      }
      this.most.waiting = Math.max(this.most.waiting, waiting);
    };
    for (const pod of scene.pods.values()) count(pod, 1);
    this.changes.forEach((change, number) => {
      for (const [name] of change[2]) if (scene.pods.has(name)) count(scene.pods.get(name), -1);
      for (const [, pod] of change[2]) if (pod !== null) count(pod, 1);
      for (const [node] of change[0]) this.busy.add(node);
      apply(scene, change);
      if ((number + 1) % KEYFRAME === 0) this.keyframes.push(copyOf(scene));
    });
  }

  // The scene after so many steps; it is changed by the next call.
  at(position) {
    const jump = position < this.position || position - this.position > KEYFRAME;
    if (jump) {
      const frame = Math.floor(position / KEYFRAME);
      this.current = copyOf(this.keyframes[frame]);
      this.position = frame * KEYFRAME;
    }
    while (this.position < position) apply(this.current, this.changes[this.position++]);
    return this.current;
  }

  // What step `number` changes, field by field: [object, field, before, after].
  differences(number) {
    const before = this.at(number);
    const change = this.changes[number];
    const rows = [];
    for (const [node, after] of change[0]) {
      const had = before.nodes[node];
      NODE_FIELDS.forEach(([field, told]) => {
        if (told(had) !== told(after)) rows.push(["Node/" + this.nodes[node].name, field, told(had), told(after)]);
      });
    }
    for (const [workload, after] of change[1]) {
      const had = before.workloads[workload];
      WORKLOAD_FIELDS.forEach(([field, told]) => {
        if (told(had) !== told(after)) rows.push([this.workloads[workload].ref, field, told(had), told(after)]);
      });
    }
    for (const [name, after] of change[2]) {
      const had = before.pods.get(name);
      POD_FIELDS.forEach(([field, told]) => {
        const [old, now] = [had ? told(had, this) : "", after ? told(after, this) : ""];
        if (old !== now) rows.push(["Pod " + name, field, old, now]);
      });
    }
    return rows;
  }
}

const NODE_FIELDS = [
  ["condition", (node) => node[HEALTH]],
  ["cordoned", (node) => (node[CORDONED] ? "yes" : "no")],
  ["NoExecute taint", (node) => (node[NO_EXECUTE] ? "yes" : "no")],
  ["work", (node) => node[WORK] || "none"],
  ["nominated", (node) => String(node[NOMINATED].length)],
  ["unneeded", (node) => (node[SPARE] ? "yes" : "no")],
  ["pods ended", (node) => String(node[SUCCEEDED] + node[FAILED])],
];
const WORKLOAD_FIELDS = [
  ["exists", (workload) => (workload[EXISTS] ? "yes" : "no")],
  ["replicas asked for", (workload) => String(workload[DESIRED])],
  ["replicas of its ReplicaSet", (workload) => (workload[REPLICAS] < 0 ? "none yet" : String(workload[REPLICAS]))],
  ["revision", (workload) => String(workload[REVISION] + 1)],
  ["failed pods left", (workload) => String(workload[LEFT_FAILED])],
];
const POD_FIELDS = [
  ["phase", (pod) => pod[PHASE]],
  ["node", (pod, film) => (pod[PLACE] === NOWHERE || pod[PHASE] === "Pending" ? "" : film.nodes[pod[PLACE]].name)],
  ["restarts", (pod) => (pod[RESTARTS] ? String(pod[RESTARTS]) : "")],
];
