// The page of numbers: what was asked, tables, charts, and what the numbers rest on.

const report = JSON.parse(document.getElementById("report").textContent);
const KINDS = { VIOLATED: "bad", HOLDS: "good", "": "good" };

function banner() {
  return bannerOf(KINDS[report.verdict] || "fair", report.headline, [named(report.subject, "scenario"), how(report.how)], report.facts);
}

function table(one) {
  const cells = (row) => row.map((cell, place) => h(place ? "td" : "th", place ? { class: "number" } : { scope: "row" }, named(cell)));
  const head = h("thead", {}, h("tr", {}, one.head.map((cell) => h("th", { scope: "col" }, named(cell)))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": one.title }, h("table", {}, head, h("tbody", {}, one.rows.map((row) => h("tr", {}, cells(row))))));
}

function page() {
  const parts = report.tables.filter((one) => one.rows.length).map((one, place) => [`table-${place}`, one.title, section(one.title, `table-${place}`, table(one))]);
  if (report.charts.length) parts.splice(1, 0, ["charts", "Charts", section("Charts", "charts", h("div", { class: "charts" }, report.charts.map(drawChart)))]);
  if (report.notes.length) parts.push(["notes", "Notes", section("What the numbers rest on", "notes", h("ul", { class: "reasons" }, report.notes.map((note) => h("li", {}, named(note)))))]);
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the report"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, parts.map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, banner(), parts.map((part) => part[2])),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}. ${report.closing}`))
  );
}

page();
