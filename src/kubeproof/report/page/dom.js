// Elements from plain values. Text becomes text nodes and attributes are set one by one: whatever a manifest says,
// it cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A text that a manifest chose: shown in its own direction, so that it cannot reorder its neighbours.
function named(text, kind) {
  return h("bdi", { class: kind || "name", title: text.length > 40 ? shortened(text, 300) : null }, text);
}

function shortened(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

function plural(count, one, many) {
  return count.toLocaleString("en") + " " + (count === 1 ? one : many || one + "s");
}

// -- how wide a text is -------------------------------------------------------------------------

const measuring = document.createElement("canvas").getContext("2d");
const fitted = new Map();

// The text, cut with an ellipsis where it is wider than so many pixels.
function fit(text, width, font) {
  const key = font + "|" + Math.floor(width) + "|" + text;
  if (fitted.has(key)) return fitted.get(key);
  if (fitted.size > 5000) fitted.clear();
  measuring.font = font;
  let shown = text.length > 120 ? text.slice(0, 120) + "…" : text;
  if (measuring.measureText(shown).width > width) {
    let least = 0;
    let most = shown.length;
    while (least < most) {
      const middle = (least + most + 1) >> 1;
      if (measuring.measureText(shown.slice(0, middle) + "…").width <= width) least = middle;
      else most = middle - 1;
    }
    shown = shown.slice(0, least) + "…";
  }
  fitted.set(key, shown);
  return shown;
}

function widthOf(text, font) {
  measuring.font = font;
  return measuring.measureText(text).width;
}
