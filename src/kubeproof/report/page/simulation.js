// The page of a simulation: what became of intents and requests, variants side by side, curves, and what happened when.

const report = JSON.parse(document.getElementById("report").textContent);
const axis = new TimeAxis(report.times);
const OPEN_SUBJECTS = 6; // others are drawn when they are opened

function kindOf(verdict) {
  if (verdict === "VIOLATED" || verdict === "ERROR") return "bad";
  return verdict === "SAMPLED-OK" || verdict === "RUN" ? "good" : "fair";
}

function banner() {
  return bannerOf(kindOf(report.verdict), report.headline, [named(report.scenario, "scenario"), how(report.how)], report.facts);
}

function intents() {
  const rows = report.intents.map((one) =>
    h("li", { class: "property" }, h("div", { class: "property-head" }, h("span", { class: "pill " + kindOf(one.verdict) }, one.verdict), h("span", { class: "faint" }, one.id), h("strong", {}, named(one.intent)), one.target ? named(one.target, "target") : ""), one.detail ? h("p", {}, one.detail) : "", one.when ? h("p", { class: "faint" }, one.when) : "", one.place ? h("p", { class: "place faint" }, one.place) : "")
  );
  return section("Properties", "properties", h("ul", { class: "properties" }, rows));
}

function table(id, head, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": id },
    h("table", {}, h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, named(cell))))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h(place ? "td" : "th", place ? { class: "number" } : { scope: "row" }, named(cell)))))))
  );
}

// -- plots ------------------------------------------------------------------------------------------

function lineOf(raw) {
  const known = raw.values.filter((value) => value !== null);
  return { ...raw, least: known.length ? known.reduce((a, b) => Math.min(a, b)) : null, most: known.length ? known.reduce((a, b) => Math.max(a, b)) : null };
}

function subject(group, isOpen) {
  const box = h("div", { class: "plots" });
  const details = h("details", { class: "subject", open: isOpen }, h("summary", {}, named(group.name)), box);
  const draw = () => {
    if (!details.open || box.childElementCount) return;
    for (const panel of group.panels) box.append(new Plot({ ...panel, lines: panel.lines.map(lineOf) }, axis, report.marks).box);
  };
  details.addEventListener("toggle", draw);
  draw();
  return details;
}

function curves() {
  const shown = h("span", { class: "faint", role: "status" });
  const tell = () => (shown.textContent = axis.range === axis.whole ? "whole run" : `${clock(axis.range[0])} to ${clock(axis.range[1])}`);
  axis.changed = tell;
  tell();
  const button = (words, label, act) => h("button", { type: "button", "aria-label": label, click: act }, words);
  const zoom = h("div", { class: "zoom" }, button("+", "Zoom in", () => axis.zoom(0.5, null)), button("−", "Zoom out", () => axis.zoom(2, null)), button("Whole run", "Show the whole run", () => axis.reset()), shown, h("span", { class: "faint" }, "Drag across a plot to zoom; a name switches its line off and on."));
  return section("Curves", "curves", zoom, report.band ? h("p", { class: "faint" }, report.band) : "", report.groups.map((group, place) => subject(group, place < OPEN_SUBJECTS)));
}

function moments() {
  const rows = report.moments.map((one) => h("tr", {}, h("td", { class: "number" }, clock(one.time)), h("td", {}, one.actor), h("td", {}, named(one.text))));
  const left = report.momentsLeftOut ? h("p", { class: "faint" }, `${plural(report.momentsLeftOut, "step")} more ${report.momentsLeftOut === 1 ? "is" : "are"} not listed.`) : "";
  return section("What happened when", "moments", h("div", { class: "scroll moments", tabindex: "0", role: "region", "aria-label": "Steps" }, h("table", {}, h("thead", {}, h("tr", {}, ["time", "who", "what"].map((word) => h("th", { scope: "col" }, word)))), h("tbody", {}, rows))), left);
}

// -- the page ---------------------------------------------------------------------------------------

function page() {
  const parts = report.groups.length ? [["curves", "Curves", curves()]] : [];
  if (report.intents.length) parts.unshift(["properties", "Properties", intents()]);
  if (report.comparison) parts.unshift(["variants", "Variants", section("Variants side by side", "variants", table("Variants", report.comparison.head, report.comparison.rows))]);
  if (report.requests.rows.length) parts.push(["requests", "Requests", section("What became of requests", "requests", table("Requests", report.requests.head, report.requests.rows))]);
  if (report.moments.length) parts.push(["moments", "Moments", moments()]);
  if (report.notes.length) parts.push(["notes", "Notes", section("What was assumed", "notes", h("ul", { class: "reasons" }, report.notes.map((note) => h("li", {}, note))))]);
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the report"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, parts.map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, banner(), parts.map((part) => part[2])),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}.${report.groups.length ? " Keys in a plot: ← → read values, + − zoom, 0 shows the whole run." : ""}`))
  );
}

page();
