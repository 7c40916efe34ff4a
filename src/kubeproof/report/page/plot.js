// Curves over time in SVG: one time axis for all plots of a page, a cursor that reads all of them, zoom, lines on and off.

const PLOT = { left: 58, right: 12, top: 10, bottom: 26, height: 220 };
const COLOURS = 8;

// What all plots share: the part of time that is shown, and where the cursor is.
class TimeAxis {
  constructor(times) {
    this.times = times;
    this.plots = [];
    this.whole = [times[0], times.length > 1 ? times[times.length - 1] : times[0] + 1];
    this.range = this.whole;
    this.at = null;
  }

  show(from, to) {
    const least = (this.whole[1] - this.whole[0]) / Math.max(this.times.length, 2);
    const first = Math.max(this.whole[0], Math.min(from, to)), last = Math.min(this.whole[1], Math.max(from, to));
    if (last - first < least) return;
    this.range = [first, last];
    this.redraw();
  }

  reset() {
    this.range = this.whole;
    this.redraw();
  }

  zoom(factor, around) {
    const [from, to] = this.range, centre = around === null ? (from + to) / 2 : around;
    this.show(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  redraw() {
    for (const plot of this.plots) plot.draw();
    this.changed && this.changed();
  }

  // Index of the last time that is not after a moment.
  indexAt(time) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  point(index) {
    this.at = index;
    for (const plot of this.plots) plot.point();
  }
}

class Plot {
  constructor(panel, axis, marks) {
    this.panel = panel;
    this.axis = axis;
    this.marks = marks || [];
    this.hidden = new Set();
    this.width = 0;
    this.svg = s("svg", { class: "plot", tabindex: "0", role: "img", "aria-label": this.words() });
    this.reading = h("p", { class: "reading faint", "aria-live": "off" }, " ");
    this.box = h("figure", { class: "plot-box" }, h("figcaption", {}, h("strong", {}, panel.title), panel.unit ? h("span", { class: "faint" }, ` ${panel.unit}`) : "", panel.note ? h("span", { class: "faint" }, ` · ${panel.note}`) : ""), this.legend(), this.svg, this.reading);
    this.listen();
    axis.plots.push(this);
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  words() {
    const told = this.panel.lines.map((line) => `${line.name} from ${number(line.least)} to ${number(line.most)}`);
    return `${this.panel.title}${this.panel.unit ? " in " + this.panel.unit : ""} over time: ${told.join(", ")}. Arrow keys read values, plus and minus zoom.`;
  }

  legend() {
    const buttons = this.panel.lines.map((line, place) => {
      const button = h("button", { type: "button", class: "series", "aria-pressed": "true" }, h("span", { class: "key colour-" + (place % COLOURS), "aria-hidden": "true" }), named(line.name));
      button.addEventListener("click", () => {
        const isHidden = this.hidden.has(place);
        isHidden ? this.hidden.delete(place) : this.hidden.add(place);
        button.setAttribute("aria-pressed", String(isHidden));
        this.draw();
      });
      return button;
    });
    return h("div", { class: "legend" }, buttons);
  }

  resize() {
    const width = Math.floor(this.box.clientWidth - 2);
    if (width < 80 || Math.abs(width - this.width) < 2) return;
    this.width = width;
    this.draw();
  }

  // -- drawing --------------------------------------------------------------------------------------

  draw() {
    if (!this.width) return;
    const [from, to] = this.axis.range;
    this.first = Math.max(0, this.axis.indexAt(from) - 1);
    this.last = Math.min(this.axis.times.length - 1, this.axis.indexAt(to) + 1);
    this.scale();
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${PLOT.height}`);
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", PLOT.height);
    const inside = s("g", {}, this.drawnLines());
    this.cursor = s("g", { class: "cursor" });
    this.selection = s("rect", { class: "selection", y: PLOT.top, height: PLOT.height - PLOT.top - PLOT.bottom, width: 0 });
    this.svg.replaceChildren(this.grid(), this.markers(), inside, this.selection, this.cursor);
    this.point();
  }

  scale() {
    let most = 0, least = 0;
    this.panel.lines.forEach((line, place) => {
      if (this.hidden.has(place)) return;
      for (const values of [line.values, line.high, line.low]) {
        for (let at = this.first; values && at <= this.last; at++) {
          if (values[at] === null) continue;
          most = Math.max(most, values[at]);
          least = Math.min(least, values[at]);
        }
      }
    });
    this.ticks = niceTicks(least, most || 1, 4, this.panel.whole);
    this.low = this.ticks[0];
    this.high = this.ticks[this.ticks.length - 1];
  }

  x(time) {
    const [from, to] = this.axis.range;
    return PLOT.left + ((time - from) / (to - from)) * (this.width - PLOT.left - PLOT.right);
  }

  y(value) {
    return PLOT.height - PLOT.bottom - ((value - this.low) / (this.high - this.low)) * (PLOT.height - PLOT.top - PLOT.bottom);
  }

  time(x) {
    const [from, to] = this.axis.range;
    const part = (x - PLOT.left) / (this.width - PLOT.left - PLOT.right);
    return from + Math.max(0, Math.min(1, part)) * (to - from);
  }

  grid() {
    const group = s("g", { class: "grid" });
    for (const tick of this.ticks) {
      const y = this.y(tick);
      group.append(s("line", { x1: PLOT.left, x2: this.width - PLOT.right, y1: y, y2: y }), s("text", { class: "axis", x: PLOT.left - 6, y: y + 4, "text-anchor": "end" }, number(tick)));
    }
    for (const tick of timeTicks(...this.axis.range, Math.max(2, Math.floor(this.width / 90)))) {
      const x = this.x(tick), isLast = x > this.width - 32;  // a text in the middle of the last tick would be cut off
      group.append(s("line", { x1: x, x2: x, y1: PLOT.height - PLOT.bottom, y2: PLOT.height - PLOT.bottom + 4 }), s("text", { class: "axis", x: isLast ? this.width - 1 : x, y: PLOT.height - 8, "text-anchor": isLast ? "end" : "middle" }, clock(tick)));
    }
    return group;
  }

  markers() {
    const group = s("g", { class: "marks" });
    for (const mark of this.marks) {
      if (mark.time < this.axis.range[0] || mark.time > this.axis.range[1]) continue;
      const x = this.x(mark.time);
      group.append(s("g", { class: mark.bad ? "violation" : "happening" }, s("title", {}, mark.text), s("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom })));
    }
    return group;
  }

  drawnLines() {
    const parts = [];
    this.panel.lines.forEach((line, place) => {
      if (this.hidden.has(place)) return;
      const colour = "colour-" + (place % COLOURS);
      if (line.low) parts.push(s("path", { class: "band " + colour, d: this.band(line) }));
      parts.push(s("path", { class: `line ${colour}${place >= COLOURS ? " dashed" : ""}`, "data-line": place, d: this.path(line.values) }));
    });
    return parts;
  }

  // The curve; where many points share a column of pixels, its least and its greatest are drawn.
  path(values) {
    const parts = [];
    let column = null, isOpen = false, low = 0, high = 0, before = 0;
    const flush = () => {
      if (column === null) return;
      if (low !== high) parts.push(`L${column} ${round(this.y(low))}L${column} ${round(this.y(high))}L${column} ${round(this.y(before))}`);
      column = null;
    };
    for (let at = this.first; at <= this.last; at++) {
      const value = values[at];
      if (value === null) {
        flush();
        isOpen = false;
        continue;
      }
      const x = Math.round(Math.max(PLOT.left, Math.min(this.width - PLOT.right, this.x(this.axis.times[at]))) * 2) / 2;
      if (x === column) {
        low = Math.min(low, value);
        high = Math.max(high, value);
        before = value;
        continue;
      }
      const last = before;
      flush();
      if (isOpen && this.panel.steps) parts.push(`L${x} ${round(this.y(last))}`);
      parts.push(`${isOpen ? "L" : "M"}${x} ${round(this.y(value))}`);
      [column, isOpen, low, high, before] = [x, true, value, value, value];
    }
    flush();
    return parts.join("");
  }

  // One area for each stretch without gaps.
  band(line) {
    const parts = [];
    let upper = [], lower = [];
    const close = () => {
      if (upper.length) parts.push("M" + upper.join("L") + "L" + lower.reverse().join("L") + "Z");
      [upper, lower] = [[], []];
    };
    const every = Math.max(1, Math.floor((this.last - this.first) / (2 * this.width)));
    for (let at = this.first; at <= this.last; at += every) {
      if (line.low[at] === null || line.high[at] === null) {
        close();
        continue;
      }
      const x = round(Math.max(PLOT.left, Math.min(this.width - PLOT.right, this.x(this.axis.times[at]))));
      upper.push(`${x} ${round(this.y(line.high[at]))}`);
      lower.push(`${x} ${round(this.y(line.low[at]))}`);
    }
    close();
    return parts.join("");
  }

  // -- reading --------------------------------------------------------------------------------------

  point() {
    if (!this.cursor) return;
    const at = this.axis.at;
    this.cursor.replaceChildren();
    this.reading.replaceChildren(" ");
    if (at === null || this.axis.times[at] < this.axis.range[0] || this.axis.times[at] > this.axis.range[1]) return;
    const x = this.x(this.axis.times[at]);
    this.cursor.append(s("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom }));
    const told = [h("span", { class: "when" }, clock(this.axis.times[at]))];
    this.panel.lines.forEach((line, place) => {
      if (this.hidden.has(place)) return;
      const value = line.values[at];
      if (value !== null) this.cursor.append(s("circle", { class: "colour-" + (place % COLOURS), cx: x, cy: this.y(value), r: 3.5 }));
      const band = line.low && line.low[at] !== null ? ` (${number(line.low[at])} to ${number(line.high[at])})` : "";
      told.push(h("span", {}, named(line.name), " ", h("strong", {}, value === null ? "none" : number(value)), band));
    });
    this.reading.replaceChildren(...told);
  }

  listen() {
    let begun = null;
    const place = (event) => event.clientX - this.svg.getBoundingClientRect().left;
    this.svg.addEventListener("pointermove", (event) => {
      const x = place(event);
      this.axis.point(this.axis.indexAt(this.time(x)));
      if (begun === null) return;
      this.selection.setAttribute("x", Math.max(PLOT.left, Math.min(begun, x)));
      this.selection.setAttribute("width", Math.abs(Math.max(PLOT.left, x) - Math.max(PLOT.left, begun)));
    });
    this.svg.addEventListener("pointerleave", () => begun === null && this.axis.point(null));
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begun = place(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointerup", (event) => {
      const from = begun, to = place(event);
      begun = null;
      if (this.selection) this.selection.setAttribute("width", 0);
      if (from !== null && Math.abs(to - from) > 6) this.axis.show(this.time(from), this.time(to));
    });
    this.svg.addEventListener("pointercancel", () => (begun = null));
    this.svg.addEventListener("dblclick", () => this.axis.reset());
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // scrolls the page
      event.preventDefault();
      this.axis.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(place(event)));
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
  }

  onKey(event) {
    const axis = this.axis, last = axis.times.length - 1;
    const now = axis.at === null ? axis.indexAt(axis.range[0]) : axis.at;
    const centre = axis.at === null ? null : axis.times[axis.at];
    const keys = {
      ArrowRight: () => axis.point(Math.min(last, axis.at === null ? now : now + 1)), ArrowLeft: () => axis.point(Math.max(0, now - 1)),
      "+": () => axis.zoom(0.5, centre), "=": () => axis.zoom(0.5, centre), "-": () => axis.zoom(2, centre), 0: () => axis.reset(),
      Home: () => axis.point(0), End: () => axis.point(last), Escape: () => axis.point(null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}

// -- numbers and times ------------------------------------------------------------------------------

function round(value) {
  return Math.round(value * 10) / 10;
}

const LARGE = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]];

function number(value) {
  if (value === null || value === undefined) return "none";
  const size = Math.abs(value);
  for (const [unit, sign] of LARGE) {
    if (size >= unit) return String(Number((value / (sign === "k" ? 1e3 : unit)).toPrecision(3))) + sign;
  }
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

// Round numbers from below the least to above the most; of things that are counted whole ones.
function niceTicks(least, most, count, isWhole) {
  const rough = Math.max((most - least) / count, isWhole ? 1 : 0), power = 10 ** Math.floor(Math.log10(rough));
  const step = (isWhole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]).find((one) => one * power >= rough * 0.999) * power;
  const ticks = [];
  for (let place = Math.floor(least / step); ticks.length < 12; place++) {
    ticks.push(Number((place * step).toPrecision(12)));
    if (place * step >= most - step * 1e-9) break;
  }
  return ticks;
}

const TIME_STEPS = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];

function timeTicks(from, to, most) {
  const step = TIME_STEPS.find((one) => (to - from) / one <= most) || (to - from) / most, ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to && ticks.length < 60; tick += step) ticks.push(tick);
  return ticks;
}

function clock(seconds) {
  const whole = Math.floor(seconds + 1e-9), rest = seconds - whole;
  const days = Math.floor(whole / 86400), hours = Math.floor(whole / 3600) % 24, minutes = Math.floor(whole / 60) % 60;
  const two = (part) => String(part).padStart(2, "0");
  const fraction = rest > 0.0005 ? rest.toFixed(3).slice(1) : "";
  return (days ? `${days}d ` : "") + (whole >= 3600 ? `${two(hours)}:` : "") + `${two(minutes)}:${two(whole % 60)}${fraction}`;
}
