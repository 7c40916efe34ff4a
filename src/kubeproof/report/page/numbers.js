// The numbers behind a decision: what the scheduler thought of every node, how an autoscaler came to its size.

function numbersTable(numbers) {
  return numbers.kind === "scores" ? scoreTable(numbers) : autoscaling(numbers);
}

function scrollable(label, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

function scoreTable(table) {
  const scored = table.plugins.length > 0;
  const heads = ["node", "verdict", scored ? "total" : null, ...table.plugins.map(([name, weight]) => h("span", {}, breakable(name), weight === 1 ? "" : h("small", {}, `\u00a0×\u00a0${weight}`)))].filter(Boolean);
  const rows = table.rows.map((row) => {
    const verdict = row.refused ? h("span", {}, h("b", {}, row.refused), ": ", h("bdi", {}, row.reason)) : row.node === table.node ? "chosen" : row.best ? (table.node ? "as good: a tie" : "feasible") : "feasible";
    const kind = row.node === table.node ? "chosen" : row.refused ? "refused" : "";
    return h(
      "tr",
      { class: kind },
      h("th", { scope: "row" }, named(row.node)),
      h("td", { class: row.refused ? "verdict-cell long" : "verdict-cell" }, verdict),
      scored ? h("td", { class: "number total" }, row.refused ? "–" : row.total) : null,
      table.plugins.map((_, place) => h("td", { class: "number" }, row.scores[place] === null || row.refused ? "–" : row.scores[place]))
    );
  });
  const caption = table.node ? ["Where ", named(table.pod), " may go: filters first, then weighted scores"] : ["Why ", named(table.pod), table.rows.some((row) => !row.refused) ? " has no node yet" : " fits nowhere"];
  return h(
    "figure",
    { class: "numbers" },
    h("figcaption", {}, caption),
    scrollable("Scores of nodes", h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows))),
    table.omitted ? h("p", { class: "faint" }, `and ${plural(table.omitted, "more node")}`) : null
  );
}

// A name like NodeResourcesFit that may go on in the next line between its words.
function breakable(name) {
  return name.split(/(?=[A-Z][a-z])/).map((word, place) => (place ? [h("wbr"), word] : word));
}

function autoscaling(sync) {
  const amount = (metric, value) => (value === null ? "–" : metric.percent ? value + " %" : String(value / 1000));
  const rows = sync.metrics.map((metric) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, named(metric.name)),
      h("td", { class: "number" }, amount(metric, metric.measured)),
      h("td", { class: "number" }, amount(metric, metric.target)),
      h("td", { class: "number" }, metric.ratio === null ? "–" : Number(metric.ratio.toPrecision(4))),
      h("td", { class: "number" }, metric.pods || "–"),
      h("td", { class: "number total" }, metric.proposal === null ? "–" : metric.proposal),
      h("td", {}, metric.words)
    )
  );
  const heads = ["metric", "measured", "target", "ratio", "pods", "asks for", "how"];
  return h(
    "figure",
    { class: "numbers" },
    h("figcaption", {}, "How ", named(sync.autoscaler), ` comes from ${sync.current} to ${sync.replicas} replicas (allowed: ${sync.least} to ${sync.most})`),
    rows.length ? scrollable("Calculation of the autoscaler", h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows))) : null,
    sync.reasons.length ? h("ul", { class: "reasons" }, sync.reasons.map((reason) => h("li", {}, reason))) : null
  );
}
