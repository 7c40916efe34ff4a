// Verdicts over sizes: nodes to the right, pods upwards.

const HEAT_CELL = 22;

function heatMap(sweep) {
  const nodes = [...new Set(sweep.cells.map((cell) => cell.nodes))].sort((a, b) => a - b);
  const pods = [...new Set(sweep.cells.map((cell) => cell.pods))].sort((a, b) => a - b);
  const left = 44, bottom = 34, top = 8;
  const width = left + nodes.length * HEAT_CELL + 8, height = top + pods.length * HEAT_CELL + bottom;
  const chart = s("svg", { class: "heat", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Verdicts over nodes and pods: " + sweep.words });
  for (const cell of sweep.cells) {
    const x = left + nodes.indexOf(cell.nodes) * HEAT_CELL, y = top + (pods.length - 1 - pods.indexOf(cell.pods)) * HEAT_CELL;
    const told = `${plural(cell.nodes, "node")}, ${plural(cell.pods, "pod")}: ${cell.words}` + (cell.violated ? `, ${cell.violated} of ${plural(cell.sizes, "size")} violated` : `, ${plural(cell.sizes, "size")}`);
    chart.append(
      s("g", { class: "heat-" + cell.verdict }, s("title", {}, told), s("rect", { x, y, width: HEAT_CELL - 2, height: HEAT_CELL - 2, rx: 4 }), s("text", { x: x + HEAT_CELL / 2 - 1, y: y + 14.5, "text-anchor": "middle" }, cell.sign))
    );
  }
  nodes.forEach((count, place) => chart.append(s("text", { class: "axis", x: left + place * HEAT_CELL + HEAT_CELL / 2 - 1, y: height - bottom + 14, "text-anchor": "middle" }, count)));
  const every = Math.ceil(pods.length / 30);
  pods.forEach((count, place) => {
    if (place % every === 0) chart.append(s("text", { class: "axis", x: left - 8, y: top + (pods.length - 1 - place) * HEAT_CELL + 15, "text-anchor": "end" }, count));
  });
  chart.append(s("text", { class: "axis", x: left, y: height - 4 }, "nodes →"), s("text", { class: "axis", x: 12, y: height - bottom - 4, transform: `rotate(-90 12 ${height - bottom - 4})` }, "pods →"));
  const legend = sweep.legend.map(([verdict, sign, words]) => h("li", {}, h("span", { class: "heat-key heat-" + verdict, "aria-hidden": "true" }, sign), words));
  return h("div", {}, h("p", {}, sweep.bound), scrollable("Heat map", chart), h("ul", { class: "legend-row" }, legend));
}
