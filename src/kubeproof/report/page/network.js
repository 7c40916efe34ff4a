// The page of a network: properties, the network with paths and where they break, who may talk to whom, what changed.

const report = JSON.parse(document.getElementById("report").textContent);
const MARKS = { "#": "all", "+": "some", "?": "open", ".": "none" };
const WIDE = 1100;
const ROOM = 10; // between the point of an arrow and the middle of a node

function kindOf(verdict) {
  if (verdict === "VIOLATED") return "bad";
  return verdict === "UNKNOWN" || verdict === "VACUOUS" ? "fair" : "good";
}

function banner() {
  return bannerOf(kindOf(report.verdict), report.headline, named(report.what, "scenario"));
}

function lines(texts) {
  return h("pre", { class: "path-lines" }, named(texts.join("\n"), "path-text"));
}

function properties() {
  const rows = report.properties.map((one) =>
    h("li", { class: "property" }, h("div", { class: "property-head" }, h("span", { class: "pill " + kindOf(one.verdict) }, one.verdict), h("strong", {}, named(one.name))), h("p", { class: "faint" }, one.meaning), one.reasons.map((reason) => h("p", {}, named(reason))), one.lines.length ? lines(one.lines) : "")
  );
  return section("Properties", "properties", h("ul", { class: "properties" }, rows));
}

// -- where things are drawn -------------------------------------------------------------------------

function inLayers(nodes) {
  const rows = new Map();
  for (const [place, node] of nodes.entries()) rows.set(node.layer, [...(rows.get(node.layer) || []), place]);
  const order = [...rows.keys()].sort((one, other) => one - other);
  const most = Math.max(1, ...[...rows.values()].map((row) => row.length));
  const wide = Math.max(WIDE, most * 26);
  const spots = [];
  for (const [number, layer] of order.entries()) {
    const row = rows.get(layer);
    for (const [place, node] of row.entries()) spots[node] = [((place + 0.5) * wide) / row.length, 60 + number * 120];
  }
  return { spots, wide, top: 0, high: order.length * 120 + 10 };
}

function inCircle(nodes) {
  const radius = Math.max(190, nodes.length * 9);
  const middle = radius + 150;
  const spots = nodes.map((_, place) => {
    const angle = (2 * Math.PI * place) / nodes.length - Math.PI / 2;
    return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
  });
  return { spots, wide: 2 * middle, top: 120, high: 2 * middle - 220 };
}

function line(from, to, kind) {
  return s("line", { class: kind, x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
}

function head() {
  const marker = { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 5, markerHeight: 5, orient: "auto" };
  return s("defs", {}, s("marker", marker, s("path", { d: "M0,0L8,4L0,8z", fill: "context-stroke" })));
}

// A curve that tells the two directions of one pair apart.
function curve(from, to, kind) {
  const bend = [(from[0] + to[0]) / 2 + (to[1] - from[1]) * 0.12, (from[1] + to[1]) / 2 + (from[0] - to[0]) * 0.12];
  const length = Math.hypot(to[0] - bend[0], to[1] - bend[1]) || 1;
  const end = to.map((value, axis) => value - ((value - bend[axis]) * ROOM) / length);
  return s("path", { class: kind, "marker-end": "url(#head)", d: `M${from}Q${bend} ${end}` });
}

function drawing() {
  const drawn = report.drawing;
  const { spots, wide, top, high } = drawn.form === "circle" ? inCircle(drawn.nodes) : inLayers(drawn.nodes);
  const links = (drawn.links || []).map(([one, other]) => line(spots[one], spots[other], "link"));
  const arrows = drawn.arrows.map((one) => curve(spots[one.from], spots[one.to], "arrow " + one.kind + (one.changed ? " changed" : "")));
  const ways = s("g", { class: "ways" });
  const room = drawn.form === "circle" ? 150 : Math.max(24, (wide / Math.max(1, drawn.nodes.length)) * 3);
  const nodes = drawn.nodes.map((node, place) =>
    s("g", { class: "node", transform: `translate(${spots[place]})` }, s("title", {}, node.name), s("circle", { r: 8 }), s("text", { y: 24 }, fit(node.name, Math.min(room, 220), "11px sans-serif")))
  );
  const label = `The network: ${plural(drawn.nodes.length, "node")}`;
  const picture = s("svg", { class: "network", viewBox: `0 ${top} ${wide} ${high}`, role: "img", "aria-label": label }, head(), links, arrows, ways, nodes);
  return { picture, nodes, arrows, ways, spots };
}

// -- what is shown in the drawing -------------------------------------------------------------------

function clear(drawn) {
  drawn.ways.replaceChildren();
  for (const node of drawn.nodes) node.setAttribute("class", "node");
}

function showPath(drawn, path) {
  clear(drawn);
  path.nodes.forEach((node, place) => {
    drawn.nodes[node].classList.add("on");
    if (place + 1 < path.nodes.length) {
      const isLoop = path.loop !== null && place >= path.loop;
      drawn.ways.append(curve(drawn.spots[node], drawn.spots[path.nodes[place + 1]], isLoop ? "way loop" : "way"));
    }
  });
  const last = path.nodes[path.nodes.length - 1];
  if (last === undefined) return;
  if (path.loop !== null) drawn.ways.append(curve(drawn.spots[last], drawn.spots[path.nodes[path.loop]], "way loop"));
  drawn.nodes[last].classList.add(path.isGood ? "fine" : "end");
  if (!path.isGood && path.loop === null) {
    const [x, y] = drawn.spots[last];
    drawn.ways.append(line([x - 14, y - 14], [x + 14, y + 14], "break"), line([x - 14, y + 14], [x + 14, y - 14], "break"));
  }
}

function pressOne(buttons, chosen) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
}

function paths(drawn) {
  const told = h("div", { role: "status" });
  const buttons = report.drawing.paths.map((path) => {
    const button = h("button", { type: "button", "aria-pressed": "false", click: () => choose(path, button) }, named(shortened(path.name, 90)));
    return button;
  });
  const choose = (path, button) => {
    pressOne(buttons, button);
    showPath(drawn, path);
    told.replaceChildren(lines(path.lines));
  };
  if (buttons.length) choose(report.drawing.paths[0], buttons[0]);
  return [h("div", { class: "choices" }, buttons), told];
}

function parties(drawn) {
  const select = h("select", { "aria-label": "Show what one may open, and who may open it" }, h("option", { value: "" }, "all"), report.drawing.nodes.map((node, place) => h("option", { value: place }, node.name)));
  select.addEventListener("change", () => {
    clear(drawn);
    const place = select.value === "" ? null : Number(select.value);
    report.drawing.arrows.forEach((arrow, number) => {
      const isOn = place !== null && (arrow.from === place || arrow.to === place);
      drawn.arrows[number].classList.toggle("on", isOn);
      drawn.arrows[number].classList.toggle("off", place !== null && !isOn);
    });
    if (place !== null) drawn.nodes[place].classList.add("on");
  });
  return h("div", { class: "choices" }, h("span", { class: "faint" }, "Arrows of"), select);
}

function picture() {
  const drawn = drawing();
  const left = report.drawing.left ? h("p", { class: "faint" }, `${plural(report.drawing.left, "node")} far from all paths ${report.drawing.left === 1 ? "is" : "are"} not drawn.`) : "";
  const choices = report.drawing.form === "circle" ? parties(drawn) : paths(drawn);
  const [before, after] = Array.isArray(choices) ? choices : [choices, ""];
  return section("The network", "drawing", before, drawn.picture, after, left);
}

function matrix() {
  const { names, rows } = report.matrix;
  const head = h("tr", {}, h("th", { scope: "col" }, "from \\ to"), names.map((name, place) => h("th", { scope: "col", title: name }, String(place + 1))));
  const body = rows.map((row, place) => h("tr", {}, h("th", { scope: "row" }, `${place + 1} `, named(names[place])), row.map((cell) => h("td", { class: cell.mark ? MARKS[cell.mark] + (cell.changed ? " changed" : "") : "none", title: cell.title }, cell.mark || "\u00a0"))));
  const legend = "# any port, + some ports, ? not decided by manifests, . none. A cell tells why when it is pointed at.";
  return section("Matrix", "matrix", h("p", { class: "faint" }, legend), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who may talk to whom" }, h("table", { class: "may" }, h("thead", {}, head), h("tbody", {}, body))));
}

function changes() {
  const rows = report.changes.map((one) => h("tr", {}, h("th", { scope: "row" }, named(one.pair)), h("td", {}, named(one.before)), h("td", {}, named(one.after))));
  const head = h("thead", {}, h("tr", {}, ["pair", "before", "now"].map((word) => h("th", { scope: "col" }, word))));
  const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What changed" }, h("table", {}, head, h("tbody", {}, rows)));
  return section("What changed", "changes", rows.length ? table : h("p", {}, "Nothing."));
}

function page() {
  const parts = [["drawing", "Network", picture()]];
  if (report.properties.length) parts.unshift(["properties", "Properties", properties()]);
  if (report.compared) parts.unshift(["changes", "Changes", changes()]);
  if (report.matrix) parts.push(["matrix", "Matrix", matrix()]);
  if (report.notes.length) parts.push(["notes", "Notes", section("Notes", "notes", h("ul", { class: "reasons" }, report.notes.map((note) => h("li", {}, named(note)))))]);
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the report"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, parts.map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, banner(), parts.map((part) => part[2])),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}.`))
  );
}

page();
