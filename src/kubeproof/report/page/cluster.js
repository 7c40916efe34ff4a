// The drawing of the cluster. Elements are made once and moved from scene to scene.

const MOST_THREADS = 6;
const NODE_WORDS = {
  Ready: "",
  Silent: "down, not noticed yet",
  Unknown: "not ready",
  Back: "back, not noticed yet",
  Absent: "not there",
};

class Cluster {
  constructor(film, actors) {
    this.film = film;
    this.actors = actors;
    this.chipList = chipsOf(actors);
    this.chipOf = new Map(this.chipList.flatMap((chip, number) => chip.members.map((actor) => [actor, number])));
    this.families = familiesOf(film);
    this.key = film.keys.length ? 0 : -1;
    this.svg = s("svg", { class: "cluster", role: "img", focusable: "false" });
    this.box = h("div", { class: "stage" }, this.svg);
    this.pods = new Map();
    this.width = 0;
  }

  kindOf(workload) {
    return this.families.indexOf(this.film.workloads[workload].family);
  }

  // Lays everything out anew for a width; true if that changed anything.
  arrange(width) {
    if (Math.abs(width - this.width) < 2 || width < 50) return false;
    this.width = width;
    this.floor = new Floor(this.film, this.chipList, this.key, width);
    if (this.floor.isLoose) this.floor = new Floor(this.film, this.chipList, this.key, width, true);
    this.svg.replaceChildren();
    this.pods.clear();
    this.svg.setAttribute("viewBox", `0 0 ${this.floor.width} ${this.floor.height}`);
    this.svg.setAttribute("width", this.floor.width);
    this.svg.setAttribute("height", this.floor.height);
    this.drawChips();
    this.drawWaiting();
    this.drawZones();
    this.threads = s("g", { class: "threads" });
    this.podLayer = s("g", { class: "pods" });
    this.moreLayer = s("g", { class: "more" });
    this.svg.append(this.threads, this.podLayer, this.moreLayer);
    return true;
  }

  regroup(key) {
    this.key = key;
    const width = this.width;
    this.width = 0;
    this.arrange(width);
  }

  drawChips() {
    this.chips = new Map();
    this.svg.append(s("text", { class: "caption", x: 0, y: 14 }, "CONTROLLERS AND EVENTS"));
    for (const [number, at] of this.floor.chips) {
      const actors = this.chipList[number].members.map((actor) => this.actors[actor]);
      const chip = s(
        "g",
        { class: "chip " + actorKind(actors[0]) },
        s("title", {}, shortened(actors.join("\n"), 1000)),
        s("rect", { x: at.x, y: at.y, width: at.width, height: at.height, rx: 13 }),
        s("text", { x: at.x + at.width / 2, y: at.y + 17, "text-anchor": "middle" }, at.text)
      );
      this.chips.set(number, chip);
      this.svg.append(chip);
    }
  }

  drawWaiting() {
    const at = this.floor.waiting;
    if (!at) return;
    this.waitingCaption = s("text", { class: "caption", x: at.x + PAD, y: at.y + 17 }, "");
    this.svg.append(s("rect", { class: "waiting", x: 0.5, y: at.y + 0.5, width: at.width - 1, height: at.height - 1, rx: 10 }), this.waitingCaption);
  }

  drawZones() {
    this.nodes = new Map();
    const key = this.key < 0 ? "" : this.film.keys[this.key];
    for (const zone of this.floor.zones) {
      const told = key ? (zone.domain || "no " + shortKey(key)) : "NODES";
      this.svg.append(
        s(
          "g",
          { class: "zone" },
          s("title", {}, key ? `${key}=${zone.domain}` : "nodes"),
          s("rect", { x: zone.x + 0.5, y: zone.y + 0.5, width: zone.width - 1, height: zone.height - 1, rx: 12 }),
          s("text", { class: "caption", x: zone.x + PAD, y: zone.y + 18 }, fit(told, zone.width - 2 * PAD, TITLE_FONT))
        )
      );
    }
    for (const [node, at] of this.floor.nodes) this.drawNode(node, at);
  }

  drawNode(node, at) {
    const card = this.film.nodes[node];
    const bar = (y, kind) => {
      const full = s("rect", { class: "bar-full " + kind, x: at.x + 36, y, width: 0, height: 5, rx: 2.5 });
      const words = s("title", {}, "");
      return {
        full, words,
        group: s("g", {}, words, s("text", { class: "bar-name", x: at.x + 10, y: y + 5.5 }, kind), s("rect", { class: "bar", x: at.x + 36, y, width: at.width - 46, height: 5, rx: 2.5 }), full),
      };
    };
    const cpu = bar(at.y + 30, "cpu"), memory = bar(at.y + 41, "mem");
    const title = s("title", {}, "");
    const state = s("text", { class: "node-state", x: at.x + at.width - 8, y: at.y + 18, "text-anchor": "end" }, "");
    const label = s("text", { class: "node-name", x: at.x + 10, y: at.y + 18 }, "");
    const group = s("g", { class: "node" }, title, s("rect", { class: "frame", x: at.x + 0.5, y: at.y + 0.5, width: at.width - 1, height: at.height - 1, rx: 8 }), label, state, cpu.group, memory.group);
    this.nodes.set(node, { group, title, state, label, cpu, memory, at, card });
    this.svg.append(group);
  }

  // Shows a scene; `actor` acts and `change` is what it did, both missing at the start.
  show(scene, actor, change, swift) {
    this.svg.classList.toggle("swift", Boolean(swift));
    const used = this.showPods(scene, change);
    for (const [node, drawn] of this.nodes) this.showNode(drawn, scene.nodes[node], used.get(node));
    const touched = new Set(change ? change[0].map(([node]) => node) : []);
    for (const [node, drawn] of this.nodes) drawn.group.classList.toggle("touched", touched.has(node));
    for (const [number, chip] of this.chips) chip.classList.toggle("acting", number === this.chipOf.get(actor));
    this.showThreads(actor, change);
    this.svg.setAttribute("aria-label", this.spoken(scene));
  }

  showNode(drawn, node, used) {
    const down = node[HEALTH] === "Silent" || node[HEALTH] === "Unknown";
    drawn.group.classList.toggle("down", down);
    drawn.group.classList.toggle("absent", node[HEALTH] === "Absent");
    drawn.group.classList.toggle("cordoned", Boolean(node[CORDONED]));
    const words = [NODE_WORDS[node[HEALTH]], node[WORK].toLowerCase(), node[CORDONED] && !node[WORK] ? "cordoned" : "", node[NO_EXECUTE] ? "NoExecute" : "", node[SPARE] ? "unneeded" : "", node[NOMINATED].length ? "nominated" : ""].filter(Boolean);
    const told = words.length ? fit(words.join(", "), drawn.at.width * 0.55, TITLE_FONT) : "";
    drawn.state.textContent = told;
    drawn.label.textContent = fit(drawn.card.name, drawn.at.width - 24 - (told ? widthOf(told, TITLE_FONT) + 4 : 0), NODE_FONT);
    drawn.title.textContent = [drawn.card.name, ...words, ...drawn.card.taints.map((taint) => "taint " + taint), drawn.card.place].filter(Boolean).join("\n");
    const full = used || { cpu: 0, memory: 0 };
    showBar(drawn.cpu, full.cpu, drawn.card.cpu, drawn.at.width - 46, `${full.cpu}m of ${drawn.card.cpu}m CPU requested`);
    showBar(drawn.memory, full.memory, drawn.card.memory, drawn.at.width - 46, `${mebi(full.memory)} of ${mebi(drawn.card.memory)} of memory requested`);
  }

  showPods(scene, change) {
    const places = new Map(), used = new Map(), missing = new Map();
    const touched = new Set(change ? change[2].map(([name]) => name) : []);
    const gone = new Set(this.pods.keys());
    for (const [name, pod] of scene.pods) {
      const node = pod[PHASE] === "Pending" ? NOWHERE : pod[PLACE];
      const at = pod[PHASE] === "Pending" && pod[PLACE] !== NOWHERE && !this.floor.waiting ? pod[PLACE] : node;
      const place = places.get(at) || 0;
      places.set(at, place + 1);
      if (at !== NOWHERE) addUse(used, at, this.film.workloads[pod[OWNER]]);
      if (place >= this.floor.most(at)) missing.set(at, (missing.get(at) || 0) + 1);
      else if (this.showPod(name, pod, this.floor.spot(at, place), touched.has(name))) gone.delete(name);
    }
    for (const name of gone) {
      this.pods.get(name).group.remove();
      this.pods.delete(name);
    }
    this.showMore(missing);
    if (this.floor.waiting) {
      const count = places.get(NOWHERE) || 0;
      this.waitingCaption.textContent = count ? `WITHOUT A NODE: ${count}` : "WITHOUT A NODE: NONE";
    }
    return used;
  }

  showPod(name, pod, at, isTouched) {
    if (!at) return false;
    let drawn = this.pods.get(name);
    const kind = this.kindOf(pod[OWNER]);
    if (!drawn || drawn.phase !== pod[PHASE] || drawn.kind !== kind) {
      const group = podGroup(podLabel(name), kind, pod[PHASE], this.floor.radius);
      group.prepend(s("title", {}, ""));
      if (drawn) {
        group.style.transform = drawn.group.style.transform;
        drawn.group.replaceWith(group);
        group.getBoundingClientRect(); // the old place, before it moves
      } else this.podLayer.append(group);
      drawn = { group, phase: pod[PHASE], kind };
      this.pods.set(name, drawn);
    }
    drawn.at = at;
    drawn.group.style.transform = `translate(${at.x}px, ${at.y}px)`;
    drawn.group.classList.toggle("touched", isTouched);
    const owner = this.film.workloads[pod[OWNER]].ref;
    drawn.group.firstChild.textContent = `${name}\n${pod[PHASE]}: ${PHASES[pod[PHASE]].words}\n${owner}` + (pod[RESTARTS] ? `\n${pod[RESTARTS]} restarts` : "");
    return true;
  }

  showMore(missing) {
    this.moreLayer.replaceChildren();
    for (const [node, count] of missing) {
      const at = this.floor.spot(node, this.floor.most(node) - 1);
      if (at) this.moreLayer.append(s("text", { class: "more-pods", x: at.x, y: at.y + this.floor.cell / 2 + 4, "text-anchor": "middle" }, "+" + count));
    }
  }

  showThreads(actor, change) {
    this.threads.replaceChildren();
    const chip = actor === undefined ? null : this.floor.chips.get(this.chipOf.get(actor));
    if (!chip || !change) return;
    const ends = [];
    for (const [name] of change[2]) if (this.pods.has(name)) ends.push(this.pods.get(name).at);
    for (const [node] of change[0]) {
      const at = this.floor.nodes.get(node);
      if (at) ends.push({ x: at.x + at.width / 2, y: at.y });
    }
    const from = { x: chip.x + chip.width / 2, y: chip.y + chip.height };
    for (const to of ends.slice(0, MOST_THREADS)) {
      const middle = (from.y + to.y) / 2;
      this.threads.append(s("path", { d: `M${from.x} ${from.y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y - this.floor.radius - 3}` }));
    }
  }

  spoken(scene) {
    const phases = new Map();
    for (const pod of scene.pods.values()) phases.set(pod[PHASE], (phases.get(pod[PHASE]) || 0) + 1);
    const pods = [...phases].map(([phase, count]) => `${count} ${phase}`).join(", ") || "no pods";
    return `The cluster: ${plural(this.film.nodes.length, "node")}; ${pods}`;
  }
}

function addUse(used, node, workload) {
  const sum = used.get(node) || { cpu: 0, memory: 0 };
  used.set(node, { cpu: sum.cpu + workload.cpu, memory: sum.memory + workload.memory });
}

function showBar(bar, used, all, width, words) {
  const share = all ? Math.min(1, used / all) : 0;
  bar.full.setAttribute("width", (share * width).toFixed(1));
  bar.full.classList.toggle("full", share >= 0.95);
  bar.words.textContent = words;
}

function mebi(bytes) {
  if (bytes >= 1024 ** 3) return (bytes / 1024 ** 3).toFixed(1) + " Gi";
  return Math.round(bytes / 1024 ** 2) + " Mi";
}

function familiesOf(film) {
  return [...new Set(film.workloads.map((workload) => workload.family))];
}

function shortKey(key) {
  return key.slice(key.lastIndexOf("/") + 1);
}

function actorKind(name) {
  if (name === "time") return "time";
  return name.startsWith("event ") ? "event" : "controller";
}
