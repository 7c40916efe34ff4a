// The survival matrix: a heat map of workloads and faults whose cells play their runs, and a finding for each cause.

function matrixMap(matrix, play) {
  const cells = []; // rows of buttons or null, for the arrow keys
  const cellOf = (row, one, column, line) => {
    const [, title] = matrix.columns[column];
    if (!one) {
      line.push(null);
      return h("td", { class: "cell none" }, h("span", { class: "cell-words", title: "cannot happen to it" }, "·"));
    }
    const told = `${row.name}, ${title}: ${one.detail}`;
    const words = [h("span", { class: "cell-sign", "aria-hidden": "true" }, one.sign), one.grade === "steady" || one.grade === "unknown" ? null : h("span", { class: "cell-word" }, one.word)];
    const label = `${row.name}, ${title}: ${one.grade}${one.word && one.grade === "dips" ? " " + one.word : ""}`;
    const box = one.run >= 0
      ? h("button", { type: "button", class: "cell-words", title: shortened(told + " Play the run.", 400), "aria-label": label + ", play the run", click: () => play(one.run) }, words)
      : h("span", { class: "cell-words", title: shortened(told, 400), role: "img", "aria-label": label }, words);
    line.push(box);
    return h("td", { class: "cell grade-" + one.grade }, box);
  };
  const rowOf = (row) => {
    const line = [];
    cells.push(line);
    const about = [row.target, row.floor, row.place].filter(Boolean).join(" · ");
    return h("tr", {}, h("th", { scope: "row", title: shortened(about, 300) }, h("bdi", { class: "name" }, row.name), row.pods ? h("span", { class: "faint" }, ` ×${row.pods}`) : null), row.cells.map((one, column) => cellOf(row, one, column, line)));
  };
  const heads = matrix.columns.map(([head, title]) => h("th", { scope: "col", title }, head));
  const body = h("tbody", {}, matrix.rows.map(rowOf));
  rove(body, cells);
  const table = h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("td", {}), heads)), body);
  const legend = matrix.legend.map(([grade, sign, words]) => h("li", {}, h("span", { class: "cell-key grade-" + grade, "aria-hidden": "true" }, sign), `${grade}: ${words}`));
  return card(
    "What each workload survives",
    "matrix",
    h("p", {}, "One fault at a time, each once everything is deployed. A cell plays its run; arrow keys move between cells."),
    h("ul", { class: "legend-row" }, legend),
    scrollable("Survival matrix", table),
    matrix.pairs ? h("p", { class: "faint" }, "Two faults at once: " + matrix.pairs + ".") : null
  );
}

// One stop for the tab key in the whole map; arrow keys go on to the next cell that has a run.
function rove(body, cells) {
  const buttons = [];
  cells.forEach((line, row) => line.forEach((box, column) => {
    if (box && box.tagName === "BUTTON") buttons.push([box, row, column]);
  }));
  buttons.forEach(([box], number) => box.setAttribute("tabindex", number ? "-1" : "0"));
  const to = (box) => {
    for (const [other] of buttons) other.setAttribute("tabindex", other === box ? "0" : "-1");
    box.focus();
  };
  const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  body.addEventListener("keydown", (event) => {
    const from = buttons.find(([box]) => box === event.target);
    const move = moves[event.key];
    if (!from || !move) return;
    event.preventDefault();
    event.stopPropagation(); // not a step of the player
    const [, row, column] = from;
    for (let y = row + move[0], x = column + move[1]; cells[y] && x >= 0 && x < cells[y].length; y += move[0], x += move[1]) {
      if (cells[y][x] && cells[y][x].tagName === "BUTTON") return to(cells[y][x]);
    }
  });
  body.addEventListener("focusin", (event) => {
    if (buttons.some(([box]) => box === event.target)) for (const [other] of buttons) other.setAttribute("tabindex", other === event.target ? "0" : "-1");
  });
}

function gradePill(one) {
  return h("span", { class: "pill grade-" + one.grade }, h("span", { "aria-hidden": "true" }, one.sign), " ", one.grade.toUpperCase());
}

const MOST_FINDINGS = 6; // that are shown without asking

function matrixFindings(matrix, play) {
  const several = (names) => (names.length > 6 ? [...names.slice(0, 5).map((name) => [named(name), ", "]), `and ${names.length - 5} more`] : names.map((name, number) => [number ? ", " : "", named(name)]));
  const row = (one) =>
    h(
      "li",
      { class: "property" },
      h("div", { class: "property-head" }, gradePill(one), h("h3", {}, several(one.targets))),
      h("p", {}, one.depth ? one.depth + ", under " : "under ", h("strong", {}, one.faults)),
      one.ends.length ? h("p", { class: "faint" }, h("bdi", {}, one.ends.join("; "))) : null,
      one.explained.map(([head, said]) => h("p", { class: "remedy" }, h("strong", {}, head + ": "), h("bdi", {}, said))),
      repairs(one.repairs),
      one.run >= 0 ? h("button", { type: "button", class: "show-run", click: () => play(one.run) }, "Play the run: " + one.when) : null,
      one.cells.length > 1
        ? h("details", { class: "others" }, h("summary", {}, plural(one.cells.length, "cell")), h("ul", { class: "actors" }, one.cells.map(([name, head, word, run]) => h("li", {}, h("button", { type: "button", class: "small", click: () => play(run) }, named(name), ` · ${head} · ${word}`)))))
        : null
    );
  if (!matrix.findings.length) return card("Findings", "findings", h("p", {}, (matrix.open ? `No run was found that` : "No run") + " takes a workload below its minimum or leaves it incomplete" + (matrix.open ? `; ${plural(matrix.open, "cell is", "cells are")} not decided.` : ".")));
  const list = (those) => h("ul", { class: "properties" }, those.map(row));
  const rest = matrix.findings.slice(MOST_FINDINGS);
  return card("Findings, one for each cause", "findings", list(matrix.findings.slice(0, MOST_FINDINGS)), rest.length ? h("details", { class: "others" }, h("summary", {}, plural(rest.length, "more finding")), list(rest)) : null);
}
