// The page of incidents: the gravest first, each with its evidence and what happened around it.

const report = JSON.parse(document.getElementById("report").textContent);
const OPEN_INCIDENTS = 3; // others show what happened when they are opened

function rows(one) {
  const body = one.rows.map(([seconds, time, what, words]) =>
    h("tr", {}, h("td", { class: "number" }, time), h("td", { class: "number" }, (seconds >= 0 ? "+" : "−") + Math.abs(seconds).toFixed(1) + " s"), h("td", {}, what === "alarm" ? h("span", { class: "pill " + one.kind }, what) : what), h("td", {}, named(words)))
  );
  const head = h("thead", {}, h("tr", {}, ["time", "from its beginning", "what", "which"].map((word) => h("th", { scope: "col" }, word))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Incident ${one.number}, step by step` }, h("table", {}, head, h("tbody", {}, body)));
}

function happened(one, isOpen) {
  const box = h("details", { open: isOpen }, h("summary", {}, "What happened when"));
  const draw = () => {
    if (box.open && box.childElementCount === 1) box.append(rows(one), one.left ? h("p", { class: "faint" }, plural(one.left, "row") + " more in the JSON.") : "");
  };
  box.addEventListener("toggle", draw);
  draw();
  return box;
}

function incident(one, place) {
  return h(
    "section",
    { class: "card", id: "incident-" + one.number, "aria-labelledby": `incident-${one.number}-title` },
    h("h2", { id: `incident-${one.number}-title` }, h("span", { class: "pill " + one.kind }, one.level), ` Incident ${one.number} `, one.whose ? named(one.whose, "target") : ""),
    h("p", {}, named(one.cause)),
    h("p", { class: "faint" }, one.when),
    h("ul", { class: "reasons" }, one.evidence.map((words) => h("li", {}, named(words)))),
    happened(one, place < OPEN_INCIDENTS)
  );
}

function banner() {
  return bannerOf(report.kind, report.headline, null, report.facts);
}

document.body.append(
  h("a", { class: "skip", href: "#main" }, "To the report"),
  h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Incidents" }, report.incidents.slice(0, 12).map((one) => h("a", { href: "#incident-" + one.number }, `${one.number}`))), themeButton()),
  h("main", { id: "main", tabindex: "-1" }, banner(), report.incidents.map(incident)),
  h("footer", {}, h("p", {}, `Kubeproof ${report.program}. The gravest incidents come first.`))
);
