// The page of tuning: the best setting, all that were looked at, cost against promises, and what to change.

const report = JSON.parse(document.getElementById("report").textContent);
const CLOUD = { width: 760, height: 300, left: 70, right: 16, top: 14, bottom: 40 };

function kindOf(verdict) {
  if (verdict === "VIOLATED" || verdict === "ERROR") return "bad";
  return verdict === "SAMPLED-OK" || verdict === "HOLDS" ? "good" : "fair";
}

function banner() {
  return bannerOf(kindOf(report.verdict), report.headline, [named(report.scenario, "scenario"), how(report.how)], report.facts);
}

function promise(one) {
  return h("li", { class: "property" }, h("div", { class: "property-head" }, h("span", { class: "pill " + kindOf(one.verdict) }, one.verdict), h("strong", {}, named(one.title))), one.detail ? h("p", {}, one.detail) : "");
}

function best() {
  const pairs = report.best.map(([key, value]) => [h("dt", {}, named(key)), h("dd", {}, named(value))]);
  const changes = h("ul", { class: "reasons" }, (report.does.length ? report.does : ["nothing to change: the input has it"]).map((one) => h("li", {}, named(one))));
  const kept = report.promises.length ? [h("h3", {}, `In ${plural(report.confirmedRuns, "fresh run")}`), h("ul", { class: "properties" }, report.promises.map(promise))] : [];
  const proved = report.verified.length ? [h("h3", {}, "What verify says"), h("ul", { class: "properties" }, report.verified.map(promise))] : [];
  return section("Best setting", "best", h("dl", { class: "pairs" }, pairs), changes, kept, proved);
}

function table(id, head, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": id },
    h("table", {}, h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, named(cell))))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h(place ? "td" : "th", place ? { class: "number" } : { scope: "row" }, named(cell)))))))
  );
}

// Cost against by how much the promise is kept that is kept least; below the line one is broken.
function cloud() {
  const costs = report.points.map((one) => one.cost);
  const margins = [0, ...report.points.map((one) => one.margin)];
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const [low, high] = [Math.min(...margins), Math.max(...margins)];
  const x = (cost) => CLOUD.left + ((cost - least) / (most - least || 1)) * (CLOUD.width - CLOUD.left - CLOUD.right);
  const y = (margin) => CLOUD.top + ((high - margin) / (high - low || 1)) * (CLOUD.height - CLOUD.top - CLOUD.bottom);
  const dots = report.points.map((one) => s("circle", { cx: x(one.cost), cy: y(one.margin), r: one.mark ? 7 : 4.5, class: one.kind + (one.mark ? " chosen" : ""), tabindex: "0", role: "img", "aria-label": `${one.mark} ${one.label}: ${one.cost.toPrecision(4)} an hour` }, s("title", {}, `${one.mark} ${one.label}: ${one.cost.toPrecision(4)} an hour`)));
  const limit = s("line", { class: "limit", x1: CLOUD.left, x2: CLOUD.width - CLOUD.right, y1: y(0), y2: y(0) });
  const words = [
    s("text", { x: CLOUD.left, y: CLOUD.height - 22 }, least.toPrecision(4)),
    s("text", { x: CLOUD.width - CLOUD.right, y: CLOUD.height - 22, "text-anchor": "end" }, most.toPrecision(4)),
    s("text", { x: CLOUD.width / 2, y: CLOUD.height - 8, "text-anchor": "middle" }, "cost of an hour"),
    s("text", { x: CLOUD.left - 6, y: y(0) + 4, "text-anchor": "end" }, "kept"),
    low < 0 ? s("text", { x: CLOUD.left - 6, y: y(low), "text-anchor": "end" }, "broken") : null,
  ];
  const picture = s("svg", { class: "cloud", viewBox: `0 0 ${CLOUD.width} ${CLOUD.height}`, role: "group", "aria-label": "Settings by cost and promises" }, limit, words, dots);
  return section("Cost against promises", "cloud", picture, h("p", { class: "faint" }, "Each point is a setting. Above the line all promises are kept; the larger points are the best setting and what the input has."));
}

function line(text) {
  const kind = text.startsWith("+") ? "added" : text.startsWith("-") ? "gone" : null;
  return h("span", { class: kind }, text + "\n");
}

function change() {
  return section("What to change", "change", report.diffs.map((one) => h("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": "Change of " + one.file }, one.lines.map(line))));
}

function list(title, id, items) {
  return section(title, id, h("ul", { class: "reasons" }, items.map((one) => h("li", {}, named(one)))));
}

function page() {
  const parts = [];
  if (report.best.length) parts.push(["best", "Best setting", best()]);
  if (report.diffs.length) parts.push(["change", "Change", change()]);
  if (report.points.length) parts.push(["cloud", "Cost", cloud()], ["ranking", "Ranking", section("Settings that were looked at", "ranking", table("Ranking", report.ranking.head, report.ranking.rows))]);
  if (report.passed.length) parts.push(["passed", "Passed over", list("Passed over", "passed", report.passed)]);
  if (report.notes.length) parts.push(["notes", "Notes", list("What was assumed", "notes", report.notes)]);
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the report"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, parts.map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, banner(), parts.map((part) => part[2])),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}. ${report.summary}.`))
  );
}

page();
