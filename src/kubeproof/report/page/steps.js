// The list of steps. Only the rows that can be seen are in the document, however long the run is.

const ROW = 52, SPARE_ROWS = 6;

class Steps {
  constructor(run, choose) {
    this.run = run;
    this.choose = choose;
    this.rows = run.steps.map((_, number) => number);
    this.selected = -1;
    this.drawn = new Map();
    this.room = h("div", { class: "room" });
    this.box = h(
      "div",
      { class: "steps", role: "listbox", tabindex: "0", "aria-label": "Steps of the run", scroll: () => this.draw() },
      this.room
    );
    this.count = h("p", { class: "count", "aria-live": "polite" });
  }

  // Shows the steps that answer to an actor (-1: any) and a word in what they do or to which object.
  filter(actor, word) {
    const wanted = word.trim().toLowerCase();
    const answers = (step) =>
      (actor < 0 || step.actor === actor) &&
      (!wanted || [step.action, step.object, ...step.changes].some((text) => text.toLowerCase().includes(wanted)));
    this.rows = this.run.steps.map((_, number) => number).filter((number) => answers(this.run.steps[number]));
    this.clear();
    this.draw();
    this.reveal();
  }

  get isFiltered() {
    return this.rows.length < this.run.steps.length;
  }

  clear() {
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    const all = this.run.steps.length;
    this.count.textContent = this.isFiltered ? `${this.rows.length.toLocaleString("en")} of ${plural(all, "step")}` : plural(all, "step");
    this.room.style.height = (this.rows.length + (this.run.loopStart === null ? 0 : 0.7)) * ROW + "px";
    if (this.end) this.end.remove();
    this.end = this.run.loopStart === null ? null : h("div", { class: "back", role: "presentation" }, `↻ back to step ${this.run.loopStart + 1}, for ever`);
    if (this.end) {
      this.end.style.top = this.rows.length * ROW + "px";
      this.room.append(this.end);
    }
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE_ROWS);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + (this.box.clientHeight || 400)) / ROW) + SPARE_ROWS);
    for (const [place, row] of this.drawn) {
      if (place < first || place >= last) {
        row.remove();
        this.drawn.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (!this.drawn.has(place)) {
        const row = this.row(place);
        this.drawn.set(place, row);
        this.room.append(row);
      }
    }
    this.mark();
  }

  row(place) {
    const number = this.rows[place];
    const step = this.run.steps[number];
    const actor = this.run.actors[step.actor];
    const row = h(
      "div",
      {
        class: ["step", actorKind(actor), loopPart(this.run, number), number < this.run.deployed ? "deploying" : ""].join(" ").trim(),
        role: "option",
        id: "step-" + number,
        "aria-setsize": this.rows.length,
        "aria-posinset": place + 1,
        click: () => this.choose(number),
      },
      h("span", { class: "number" }, number + 1),
      h("span", { class: "who" }, named(shortened(actor, 80)), h("span", { class: "when" }, clock(step.time))),
      h("span", { class: "what" }, h("bdi", {}, shortened(step.action, 300)))
    );
    row.style.top = place * ROW + "px";
    return row;
  }

  select(number) {
    this.selected = number;
    this.reveal();
    this.draw();
  }

  mark() {
    for (const [place, row] of this.drawn) {
      const isHere = this.rows[place] === this.selected;
      row.setAttribute("aria-selected", isHere ? "true" : "false");
      row.classList.toggle("here", isHere);
    }
    const shown = this.selected >= 0 && document.getElementById("step-" + this.selected);
    if (shown) this.box.setAttribute("aria-activedescendant", "step-" + this.selected);
    else this.box.removeAttribute("aria-activedescendant");
  }

  reveal() {
    const place = this.rows.indexOf(this.selected);
    if (place < 0) return;
    const top = place * ROW, height = this.box.clientHeight || 400;
    if (top < this.box.scrollTop) this.box.scrollTop = Math.max(0, top - ROW);
    else if (top + ROW > this.box.scrollTop + height) this.box.scrollTop = top + 2 * ROW - height;
  }

  // The next step in a direction that answers to the filter; null if there is none.
  beside(number, direction) {
    const rows = this.rows;
    if (!this.isFiltered) {
      const next = number + direction;
      return next >= 0 && next < rows.length ? next : null;
    }
    const found = direction > 0 ? rows.find((one) => one > number) : rows.filter((one) => one < number).pop();
    return found === undefined ? null : found;
  }
}

function loopPart(run, number) {
  if (run.loopStart === null || number < run.loopStart) return "";
  if (number === run.loopStart) return "loop loop-first";
  return number === run.steps.length - 1 ? "loop loop-last" : "loop";
}

// Seconds as a reader likes them.
function clock(seconds) {
  if (seconds < 120) return seconds + " s";
  const minutes = Math.floor(seconds / 60), rest = seconds % 60;
  if (minutes < 120) return minutes + " min" + (rest ? ` ${rest} s` : "");
  return Math.floor(minutes / 60) + " h" + (minutes % 60 ? ` ${minutes % 60} min` : "");
}
