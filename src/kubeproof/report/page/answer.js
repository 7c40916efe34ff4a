// The page of an answer to a what-if question: the sentence, who is hit, which pods go, the worst run and an ordinary one.

const report = JSON.parse(document.getElementById("report").textContent);

function banner() {
  return bannerOf(report.kind, named(report.question), named(report.sentence), report.facts, "Answer");
}

function table(label, head, rows, numbers) {
  const cell = (value, place) => h(place ? "td" : "th", place ? { class: numbers.includes(place) ? "number" : null } : { scope: "row" }, named(value));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, one)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))))
  );
}

function workloads() {
  const rows = report.workloads.map((one) =>
    h("li", { class: "property" }, h("div", { class: "property-head" }, h("span", { class: "pill " + one.kind }, one.state), h("strong", {}, named(one.names))), h("p", {}, named(one.said)), one.remedy ? h("p", { class: "faint" }, named(one.remedy)) : "")
  );
  return section("Workloads", "workloads", h("ul", { class: "properties" }, rows));
}

function timeline(title, id, run, note) {
  const rows = run.map(([time, who, what]) => [time + " s", who, what]);
  return section(title, id, note ? h("p", { class: "faint" }, named(note)) : "", table(title, ["time", "who", "what"], rows, []));
}

function page() {
  const parts = [];
  if (report.workloads.length) parts.push(["workloads", "Workloads", workloads()]);
  if (report.pods.length) parts.push(["pods", "Pods", section("Pods there, in the order in which they usually go", "pods", table("Pods", ["pod", "workload", "node", "what becomes of it"], report.pods, []))]);
  if (report.worst.length) parts.push(["worst", "Worst run", timeline("The worst run", "worst", report.worst, report.worstNote)]);
  if (report.ordinary.length) parts.push(["ordinary", "Ordinary run", timeline("An ordinary run", "ordinary", report.ordinary, report.ordinaryNote)]);
  if (report.notes.length) parts.push(["notes", "Notes", section("What it rests on", "notes", h("ul", { class: "reasons" }, report.notes.map((note) => h("li", {}, named(note)))))]);
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the answer"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, parts.map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, banner(), parts.map((part) => part[2])),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}`))
  );
}

page();
