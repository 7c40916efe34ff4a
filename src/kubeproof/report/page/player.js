// The player of one counterexample: drawing, controls, steps, and what each step did.

const SPEEDS = [["0.5×", 2000], ["1×", 1000], ["2×", 500], ["5×", 200], ["20×", 50]];

class Player {
  constructor(run, onStep) {
    this.run = run;
    this.onStep = onStep;
    this.film = run.film ? new Film(run.film) : null;
    this.cluster = this.film ? new Cluster(this.film, run.actors) : null;
    this.position = 0; // steps taken
    this.rounds = 0;
    this.timer = null;
    this.steps = new Steps(run, (number) => this.go(number + 1));
    this.ring = run.loopStart === null ? null : new Ring(run, (number) => this.go(number + 1));
    this.details = h("div", { class: "details", "aria-live": "polite" });
    this.makeControls();
    this.box = h("div", { class: "player" }, h("div", { class: "left" }, this.stage(), this.details), this.side(), endDetails(run));
    this.resize = new ResizeObserver(() => this.fit());
    if (this.cluster) this.resize.observe(this.cluster.box);
  }

  stage() {
    if (!this.cluster) return h("div", { class: "view" }, h("p", { class: "note" }, this.run.notDrawn || "This run was not drawn."), this.controls);
    return h("div", { class: "view" }, this.grouping(), this.cluster.box, this.hidden = h("p", { class: "faint" }), this.controls, legend(this.cluster));
  }

  grouping() {
    if (!this.film.keys.length) return null;
    const choice = h("select", { change: () => { this.cluster.regroup(Number(choice.value)); this.show(true); } },
      this.film.keys.map((key, number) => h("option", { value: number }, shortened(key, 60))), h("option", { value: -1 }, "nothing"));
    return h("label", { class: "grouping" }, "Nodes together by ", choice);
  }

  side() {
    const actors = h("select", { "aria-label": "Steps of", change: () => this.refilter() }, h("option", { value: -1 }, "everybody"), this.run.actors.map((actor, number) => h("option", { value: number }, shortened(actor, 60))));
    const word = h("input", { type: "search", placeholder: "object or word", "aria-label": "Filter steps by object or word", input: () => this.refilter() });
    this.filters = { actors, word };
    return h("div", { class: "side" }, this.ring ? this.ring.box : null, h("div", { class: "filters" }, actors, word), this.steps.count, this.steps.box);
  }

  refilter() {
    this.steps.filter(Number(this.filters.actors.value), this.filters.word.value);
  }

  makeControls() {
    const button = (sign, words, act) => h("button", { type: "button", title: words, "aria-label": words, click: act }, icon(sign));
    const last = this.run.steps.length;
    this.playButton = button("play", "Play (space)", () => this.toggle());
    this.range = h("input", { type: "range", min: 0, max: last, value: 0, step: 1, "aria-label": "Position in the run", input: () => this.go(Number(this.range.value), true) });
    this.speed = h("select", { "aria-label": "Speed", change: () => this.timer && this.restart() }, SPEEDS.map(([words, ms]) => h("option", { value: ms, selected: ms === 1000 }, words)));
    this.where = h("output", { class: "where" });
    this.controls = h(
      "div",
      { class: "controls", role: "group", "aria-label": "Player" },
      button("first", "To the start (home)", () => this.go(0)), button("back", "Step back (left arrow)", () => this.stepBy(-1)), this.playButton,
      button("forward", "Step forward (right arrow)", () => this.stepBy(1)), button("last", "To the end (end)", () => this.go(last)),
      h("div", { class: "track" }, this.loopMark(), this.range), this.speed, this.where
    );
  }

  loopMark() {
    const { loopStart, steps } = this.run;
    if (loopStart === null) return null;
    const mark = h("div", { class: "loop-mark", title: "the loop" });
    mark.style.left = (100 * loopStart) / steps.length + "%";
    return mark;
  }

  // -- moving -------------------------------------------------------------------------------------

  go(position, swift) {
    this.position = Math.max(0, Math.min(this.run.steps.length, position));
    if (this.run.loopStart === null || this.position <= this.run.loopStart) this.rounds = 0;
    this.show(swift);
    this.onStep(this.position);
  }

  // One step on or back, among those that answer to the filter; at the end of a loop it begins anew.
  stepBy(direction) {
    const next = this.steps.beside(this.position - 1, direction);
    if (next !== null) return this.go(next + 1);
    if (direction < 0) return this.go(0);
    const again = this.run.loopStart === null ? null : this.steps.beside(this.run.loopStart - 1, 1);
    if (again === null) return this.stop();
    this.rounds += 1;
    this.position = again + 1;
    this.show();
    this.onStep(this.position);
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.position >= this.run.steps.length && this.run.loopStart === null) this.go(0);
    this.restart();
  }

  restart() {
    this.stop();
    this.timer = setInterval(() => this.stepBy(1), Number(this.speed.value));
    this.setPlaying(true);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
    this.details.setAttribute("aria-live", playing ? "off" : "polite");
  }

  close() {
    this.stop();
    this.resize.disconnect();
  }

  // -- showing ------------------------------------------------------------------------------------

  fit() {
    if (this.cluster.arrange(this.cluster.box.clientWidth)) {
      const hidden = this.cluster.floor.hidden;
      this.hidden.textContent = hidden ? `${plural(hidden, "more node")} not drawn` : "";
      this.show(true);
    }
  }

  show(swift) {
    const number = this.position - 1;
    const step = number < 0 ? null : this.run.steps[number];
    if (this.cluster && this.cluster.floor) {
      const differs = this.film.at(this.position);
      this.cluster.show(differs, step ? step.actor : undefined, step ? this.film.changes[number] : null, swift || Number(this.speed.value) < 300);
    }
    this.range.value = this.position;
    const words = step ? `${this.position} / ${this.run.steps.length} · ${clock(step.time)}` : `start / ${this.run.steps.length}`;
    this.where.textContent = words;
    this.range.setAttribute("aria-valuetext", step ? `step ${this.position}: ${shortened(step.action, 200)}` : "start");
    this.steps.select(number);
    if (this.ring) this.ring.show(number, this.rounds);
    this.details.replaceChildren(...stepDetails(this.run, this.film, number).flat(Infinity).filter(Boolean));
  }
}

const ICONS = {
  play: "M7 4.5v15l13-7.5z", pause: "M6 4h4.5v16H6zM13.5 4H18v16h-4.5z", forward: "M5 5v14l9-7zM16 5h3v14h-3z",
  back: "M19 5v14l-9-7zM5 5h3v14H5z", first: "M20 5v14l-8-7zM12 5v14l-8-7zM2 5h2v14H2z", last: "M4 5v14l8-7zM12 5v14l8-7zM20 5h2v14h-2z",
};

function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true", focusable: "false" }, s("path", { d: ICONS[name], fill: "currentColor" }));
}

function legend(cluster) {
  const sample = (kind, phase) => s("svg", { width: 30, height: 30, viewBox: "-15 -15 30 30", "aria-hidden": "true" }, podGroup("", kind, phase, 9));
  const owners = cluster.families.slice(0, 24).map((workload, kind) => h("li", {}, sample(kind, "Ready"), named(shortened(cluster.film.workloads[workload].ref, 60))));
  const phases = Object.entries(PHASES).map(([phase, { words }]) => h("li", { title: words }, sample(0, phase), phase));
  return h("div", { class: "legend" }, h("ul", { "aria-label": "Owners" }, owners), h("ul", { "aria-label": "Phases" }, phases));
}
