// Charts from shapes that were laid out before: what a shape means is its class, its colours are those of the page.

function drawShape(shape) {
  const told = shape.text && shape.kind !== "text" ? s("title", {}, shape.text) : null;
  const listed = shape.points.map((point) => point.join(",")).join(" ");
  const [x, y] = shape.points[0];
  const name = `${shape.kind} ${shape.role}`;
  if (shape.kind === "line") return s("polyline", { class: name, points: listed }, told);
  if (shape.kind === "area") return s("polygon", { class: name, points: listed }, told);
  if (shape.kind === "box") return s("rect", { class: name, x, y, width: shape.points[1][0], height: shape.points[1][1] }, told);
  if (shape.kind === "dot") return s("circle", { class: name, cx: x, cy: y, r: 4 }, told);
  const place = shape.upright ? { transform: `translate(${x} ${y}) rotate(-90)` } : { x, y };
  return s("text", { class: name, "text-anchor": shape.anchor, ...place }, shape.text);
}

function drawChart(chart) {
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${chart.width} ${chart.height}`, role: "img", "aria-label": chart.title }, chart.shapes.map(drawShape));
  return h("figure", { class: "plot-box" }, picture);
}
