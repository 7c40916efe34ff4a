// The shape of an endless run: the way in as a line, then the loop as a ring.

const MOST_DOTS = 60;

class Ring {
  constructor(run, choose) {
    this.run = run;
    const length = run.steps.length - run.loopStart;
    this.svg = s("svg", { class: "ring", viewBox: "0 0 220 120", role: "img", "aria-label": `After ${plural(run.loopStart, "step")} the run goes round for ever: steps ${run.loopStart + 1} to ${run.steps.length}` });
    this.svg.append(
      s("path", { class: "way", d: "M6 60H100" }),
      s("circle", { class: "round", cx: 156, cy: 60, r: 46 }),
      s("path", { class: "arrow", d: "M196 30l8 8l2 -11z" }),
      s("text", { class: "ring-count", x: 156, y: 58, "text-anchor": "middle" }, plural(length, "step")),
      s("text", { class: "ring-words", x: 156, y: 74, "text-anchor": "middle" }, "for ever"),
      s("text", { class: "ring-words", x: 6, y: 50 }, run.loopStart ? plural(run.loopStart, "step") + " to get in" : "from the start")
    );
    if (length <= MOST_DOTS) {
      for (let number = run.loopStart; number < run.steps.length; number++) {
        const at = this.spot(number);
        const dot = s("circle", { class: "dot " + actorKind(run.actors[run.steps[number].actor]), cx: at.x, cy: at.y, r: 4.5, click: () => choose(number) });
        dot.append(s("title", {}, `${number + 1}. ${run.actors[run.steps[number].actor]}: ${shortened(run.steps[number].action, 200)}`));
        this.svg.append(dot);
      }
    }
    this.here = s("circle", { class: "here", r: 7.5 });
    this.rounds = h("p", { class: "rounds", "aria-live": "polite" });
    this.svg.append(this.here);
    const certain = run.certainty === "inevitable" ? "Inevitable: from here on the cluster can never become stable." : run.certainty === "possible" ? "Possible: some choice among equals keeps it going." : "";
    this.box = h("div", { class: "ring-box" }, this.svg, h("div", {}, h("strong", {}, "An endless loop"), h("p", { class: "faint" }, certain), this.rounds));
  }

  spot(number) {
    const { loopStart, steps } = this.run;
    if (number < loopStart) return { x: 6 + (94 * (number + 1)) / (loopStart + 1), y: 60 };
    const angle = Math.PI + (2 * Math.PI * (number - loopStart)) / (steps.length - loopStart);
    return { x: 156 + 46 * Math.cos(angle), y: 60 + 46 * Math.sin(angle) };
  }

  show(number, rounds) {
    const at = number < 0 ? { x: 6, y: 60 } : this.spot(number);
    this.here.setAttribute("cx", at.x.toFixed(1));
    this.here.setAttribute("cy", at.y.toFixed(1));
    this.rounds.textContent = rounds ? `Round ${rounds + 1}. Pods that are equal may have swapped their names.` : "";
  }
}
