// The map: points, edges of the selected node and labels of clusters, drawn by deck.gl in one or two views.

import { Deck, OrthographicView } from "@deck.gl/core";
import { LineLayer, ScatterplotLayer } from "@deck.gl/layers";
import { at, element } from "./dom.js";
import { isDark, other } from "./colours.js";
import { Grid } from "./grid.js";
import { PointsLayer } from "./points.js";

const WORLD = 1000, MOST_LABELS = 40;

export class PointMap {
  // nodes: the node of each point, or null where point i is node i.
  constructor(holder, { onSelect, onHover, onLasso, onFail }) {
    Object.assign(this, { holder, onSelect, onHover, onLasso });
    this.panes = [];
    this.labels = [];
    this.lasso = null;
    this.view = { target: [WORLD / 2, WORLD / 2, 0], zoom: 0 };
    this.surface = at("labels");
    this.ruler = document.createElement("canvas").getContext("2d");
    this.listen();
    try {
      if (!window.WebGL2RenderingContext) throw new Error("no WebGL 2");
      this.deck = new Deck({
        parent: holder,
        views: [],
        layers: [],
        useDevicePixels: true,
        getCursor: ({ isDragging }) => isDragging ? "grabbing" : this.hovered >= 0 ? "pointer" : "grab",
        layerFilter: ({ layer, viewport }) => layer.id.endsWith("-" + viewport.id),
        onViewStateChange: ({ viewState }) => { this.view = { target: viewState.target, zoom: this.clamped(viewState.zoom) }; this.moved = true; this.refresh(); },
        onClick: info => { const node = this.nodeNear(info.x, info.y); if (node >= 0) this.onSelect(node); },
        onDeviceInitialized: () => { this.hasDevice = true; },
        onLoad: () => holder.querySelector("canvas").removeAttribute("tabindex"), // keys belong to the map itself
        onError: error => { if (this.hasDevice) console.error(error.message); else onFail(); },
      });
    } catch {
      onFail();
    }
    new ResizeObserver(() => this.resized()).observe(holder);
    new ResizeObserver(() => { if (!this.moved) this.fit(); }).observe(at("legend")); // it must not hide points
  }

  // panes: [{title, positions}], positions of 16 bits; nodes as above.
  show(panes, nodes, n) {
    this.nodes = nodes;
    this.n = n;
    this.size = nodes ? nodes.length : n;
    this.pointOf = null;
    if (nodes) { this.pointOf = new Int32Array(n).fill(-1); nodes.forEach((node, point) => { this.pointOf[node] = point; }); }
    const before = this.panes.length;
    this.moving = null;
    this.panes = panes.map((pane, i) => ({ id: "ab"[i], title: pane.title, places: unpack(pane.positions) }));
    this.captions();
    if (before !== panes.length) this.fit();
    this.paint(this.colours, this.active);
  }

  // New places of the points, reached in a short walk.
  move(positions, titles) {
    const from = this.panes.map(pane => pane.places), to = positions.map(unpack), start = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const token = this.moving = {};
    titles.forEach((title, i) => { this.panes[i].title = title; });
    this.captions();
    const step = () => {
      if (this.moving !== token) return;
      const t = still ? 1 : Math.min(1, (performance.now() - start) / 450), ease = t * t * (3 - 2 * t);
      this.panes.forEach((pane, i) => { pane.places = t === 1 ? to[i] : from[i].map((value, j) => value + ease * (to[i][j] - value)); });
      this.gather();
      this.keepInView();
      this.refresh();
      if (t < 1) requestAnimationFrame(step); else this.moving = null;
    };
    step();
  }

  keepInView() {
    const place = this.placeOf(this.selected);
    if (!place || !this.deck) return;
    const [x, y] = this.onScreen(place), [width, height] = this.paneSize();
    if (x < 20 || y < 20 || x > width - 20 || y > height - 20) this.view = { ...this.view, target: [...place, 0] };
  }

  captions() {
    const [width, height] = this.paneSize(), side = this.sideBySide(), below = side ? 62 : 52;
    at("captions").replaceChildren(...this.panes.filter(pane => pane.title).map((pane, i) => {
      const caption = element("span", {}, pane.title);
      caption.style.left = (side ? i + 0.5 : 0.5) * width + "px";
      caption.style.top = (side || !i ? below : height + 6) + "px";
      caption.style.maxWidth = width - 8 + "px";
      return caption;
    }));
  }

  // colours: four bytes for each node; active: 1 for each node in the foreground.
  paint(colours, active) {
    this.colours = colours;
    this.active = active;
    if (!this.panes.length || !colours) return;
    let kept = 0;
    for (let point = 0; point < this.size; point++) kept += active[this.nodes ? this.nodes[point] : point];
    this.front = new Int32Array(kept);
    this.back = new Int32Array(this.size - kept);
    let front = 0, back = 0;
    for (let point = 0; point < this.size; point++) {
      if (active[this.nodes ? this.nodes[point] : point]) this.front[front++] = point; else this.back[back++] = point;
    }
    this.frontColours = new Uint8Array(4 * kept);
    const words = new Uint32Array(this.frontColours.buffer), from = new Uint32Array(colours.buffer, colours.byteOffset, this.n);
    for (let i = 0; i < kept; i++) words[i] = from[this.nodes ? this.nodes[this.front[i]] : this.front[i]];
    this.gather();
    this.refresh();
  }

  gather() {
    for (const pane of this.panes) {
      pane.front = { length: this.front.length, attributes: { getPosition: { value: pick(pane.places, this.front), size: 2 }, getColor: { value: this.frontColours, size: 4, normalized: true } } };
      pane.back = { length: this.back.length, attributes: { getPosition: { value: pick(pane.places, this.back), size: 2 } } };
      pane.grid = null;
    }
  }

  // What is drawn around one node: [{node, colour}] as lines, and rings around nodes.
  mark(selected, lines, rings) {
    Object.assign(this, { selected, lines, rings });
    this.refresh();
  }

  refresh() {
    if (!this.deck || !this.panes.length || !this.front) return;
    const side = this.sideBySide();
    const views = this.panes.map(({ id }, i) => new OrthographicView({
      id, flipY: false,
      ...(this.panes.length < 2 ? {} : side ? { x: 50 * i + "%", width: "50%" } : { y: 50 * i + "%", height: "50%" }),
      controller: this.lasso ? false : { doubleClickZoom: false, keyboard: false, scrollZoom: { speed: 0.008, smooth: false } },
    }));
    this.deck.setProps({ views, viewState: Object.fromEntries(this.panes.map(({ id }) => [id, this.view])), layers: this.panes.flatMap(pane => this.layers(pane)) });
    this.drawLabels();
  }

  layers(pane) {
    const many = this.size, base = many > 300000 ? 0.9 : many > 60000 ? 1.3 : many > 15000 ? 1.8 : many > 4000 ? 2.4 : many > 800 ? 3.2 : 4.5;
    const scale = Math.max(0.8, Math.min(3, 2 ** ((this.view.zoom - this.fitZoom()) / 2.6)));
    const ink = isDark() ? [232, 234, 237] : [22, 25, 29], mark = isDark() ? [255, 170, 80] : [200, 70, 0];
    const here = node => this.placeOf(node, pane), chosen = this.selected >= 0 ? here(this.selected) : null;
    const lines = chosen ? (this.lines || []).filter(line => here(line.node)) : [];
    const rings = chosen ? (this.rings || []).filter(node => here(node)) : [];
    const ring = { radiusUnits: "pixels", lineWidthUnits: "pixels", filled: false, stroked: true, pickable: false };
    return [
      new PointsLayer({ id: "back-" + pane.id, data: pane.back, getColor: [...other(), 46], radius: base * scale }),
      new PointsLayer({ id: "front-" + pane.id, data: pane.front, radius: base * scale, alpha: many > 300000 ? 0.7 : 0.92 }),
      new LineLayer({ id: "lines-" + pane.id, data: lines, getSourcePosition: () => chosen, getTargetPosition: line => here(line.node), getColor: line => [...(line.suggested ? mark : ink), line.suggested ? 210 : 120], getWidth: line => line.suggested ? 1.6 : 1.1, widthUnits: "pixels", updateTriggers: { getSourcePosition: [chosen], getTargetPosition: [pane.places] } }),
      new ScatterplotLayer({ ...ring, id: "rings-" + pane.id, data: rings, getPosition: here, getRadius: base * scale + 2.5, getLineWidth: 1.2, getLineColor: ink, updateTriggers: { getPosition: [pane.places], getRadius: [scale], getLineColor: [ink[0]] } }),
      new ScatterplotLayer({ ...ring, id: "chosen-" + pane.id, data: chosen ? [chosen] : [], getPosition: place => place, getRadius: base * scale + 4.5, getLineWidth: 3, getLineColor: mark, updateTriggers: { getRadius: [scale], getLineColor: [mark[0]] } }),
    ];
  }

  // --- where things are
  // Two maps: beside or above each other, whichever leaves more room between the captions and the tools.
  sideBySide() { return this.holder.clientWidth / 2 >= this.holder.clientHeight / 2 - 110; }
  paneSize() {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (this.panes.length < 2) return [width, height];
    return this.sideBySide() ? [width / 2, height] : [width, height / 2];
  }
  // The extent of the points: left, low, right, high.
  extent() {
    if (this.panes.length > 1) return [0, 0, WORLD, WORLD]; // it changes with every step
    if (this.bounds?.panes === this.panes) return this.bounds.box;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { places } of this.panes) for (let i = 0; i < places.length; i += 2) {
      box[0] = Math.min(box[0], places[i]); box[2] = Math.max(box[2], places[i]);
      box[1] = Math.min(box[1], places[i + 1]); box[3] = Math.max(box[3], places[i + 1]);
    }
    this.bounds = { panes: this.panes, box: box[0] <= box[2] ? box : [0, 0, WORLD, WORLD] };
    return this.bounds.box;
  }
  // The view that shows all points as large as possible with next to none under the toolbar, the legend and so on.
  whole() {
    const [width, height] = this.paneSize(), [left, low, right, high] = this.extent(), margin = 16;
    const covers = this.covers();
    const view = (x0, y0, x1, y1) => {
      const zoom = Math.log2(Math.max(40, Math.min((x1 - x0 - 2 * margin) / Math.max(right - left, 1), (y1 - y0 - 2 * margin) / Math.max(high - low, 1)) * WORLD) / WORLD), scale = 2 ** zoom;
      return { zoom, target: [(left + right) / 2 - ((x0 + x1) / 2 - width / 2) / scale, (low + high) / 2 + ((y0 + y1) / 2 - height / 2) / scale, 0] };
    };
    const top = Math.max(0, ...covers.filter(box => box[1] < 30).map(box => Math.min(box[3], 70))), bottom = height - Math.max(0, ...covers.filter(box => box[3] > this.holder.clientHeight - 30).map(box => this.holder.clientHeight - box[1]));
    const side = Math.max(0, ...covers.filter(box => box[0] < 30).map(box => box[2]));
    const rooms = [[0, 0, width, height], [0, top, width, height], [0, 0, width, bottom], [0, top, width, bottom], [side, 0, width, height], [side, top, width, height], [side, top, width, bottom]];
    const views = rooms.filter(([x0, y0, x1, y1]) => x1 - x0 > 0.4 * width && y1 - y0 > 0.4 * height).map(room => view(...room)).sort((a, b) => b.zoom - a.zoom);
    const hidden = at => this.covered(at, covers);
    return views.find(at => hidden(at) < 0.004) ?? views.reduce((best, at) => hidden(at) < hidden(best) ? at : best, views[0]);
  }
  // What lies over the map: left, top, right and bottom of each box.
  covers() {
    const stage = this.holder.getBoundingClientRect();
    return [...document.querySelectorAll("#stage > .float")].filter(one => one.checkVisibility()).map(one => { const box = one.getBoundingClientRect(); return [box.left - stage.left - 4, box.top - stage.top - 4, box.right - stage.left + 4, box.bottom - stage.top + 4]; });
  }
  // The share of points that lie under boxes on the screen.
  covered(view, boxes) {
    const [width, height] = this.paneSize(), scale = 2 ** view.zoom, side = this.sideBySide();
    let under = 0, all = 0;
    this.panes.forEach(({ places }, pane) => {
      const step = 2 * Math.max(1, Math.floor(places.length / 20000));
      for (let i = 0; i < places.length; i += step, all++) {
        const x = width * (0.5 + (side ? pane : 0)) + (places[i] - view.target[0]) * scale, y = height * (0.5 + (side ? 0 : pane)) - (places[i + 1] - view.target[1]) * scale;
        if (boxes.some(box => x > box[0] && x < box[2] && y > box[1] && y < box[3])) under++;
      }
    });
    return under / Math.max(1, all);
  }
  fitZoom() { return this.fitted?.zoom ?? 0; }
  clamped(zoom) { return Math.max(this.fitZoom() - 1.5, Math.min(this.fitZoom() + 9, zoom)); }
  fit() {
    if (!this.panes.length) return;
    this.view = this.fitted = this.whole();
    this.moved = false;
    this.refresh();
  }
  resized() {
    this.captions();
    if (!this.moved || !this.panes.length) { this.fit(); return; }
    const before = this.fitZoom();
    this.fitted = this.whole();
    this.view = { ...this.view, zoom: this.view.zoom + this.fitZoom() - before };
    this.refresh();
  }
  zoomBy(steps) { this.moved = true; this.view = { ...this.view, zoom: this.clamped(this.view.zoom + steps) }; this.refresh(); }
  panBy(x, y) { this.moved = true; const scale = 2 ** this.view.zoom, [a, b] = this.view.target; this.view = { ...this.view, target: [a + x / scale, b + y / scale, 0] }; this.refresh(); }
  goTo(node) {
    const place = this.placeOf(node);
    if (place) { this.moved = true; this.view = { target: [...place, 0], zoom: Math.max(this.view.zoom, this.clamped(this.fitZoom() + 1.6)) }; this.refresh(); }
  }
  placeOf(node, pane = this.panes[0]) {
    const point = node < 0 || node === undefined ? -1 : this.pointOf ? this.pointOf[node] : node;
    return point < 0 ? null : [pane.places[2 * point], pane.places[2 * point + 1]];
  }
  onScreen([x, y]) {
    const [width, height] = this.paneSize(), scale = 2 ** this.view.zoom;
    return [width / 2 + (x - this.view.target[0]) * scale, height / 2 - (y - this.view.target[1]) * scale];
  }
  fromScreen([x, y]) {
    const [width, height] = this.paneSize(), scale = 2 ** this.view.zoom;
    return [this.view.target[0] + (x % width - width / 2) / scale, this.view.target[1] - (y % height - height / 2) / scale];
  }
  // The node in the foreground within a few pixels of a place on the screen.
  nodeNear(x, y, pixels = 9) {
    const [width, height] = this.paneSize(), pane = this.panes[this.panes.length < 2 ? 0 : (this.sideBySide() ? x > width : y > height) ? 1 : 0];
    if (!pane?.places) return -1;
    pane.grid ??= new Grid(pane.places, this.front, WORLD);
    const point = pane.grid.nearest(this.fromScreen([x, y]), pixels / 2 ** this.view.zoom);
    return point < 0 ? -1 : this.nodes ? this.nodes[point] : point;
  }
  nearMiddle() {
    let best = -1, distance = Infinity;
    const [x, y] = this.view.target, { places } = this.panes[0];
    for (const point of this.front) {
      const d = (places[2 * point] - x) ** 2 + (places[2 * point + 1] - y) ** 2;
      if (d < distance) { distance = d; best = point; }
    }
    return best < 0 ? -1 : this.nodes ? this.nodes[best] : best;
  }

  // --- labels: [{text, size, place, colour}], the largest first; one that would cover another is left out
  setLabels(labels) { this.labels = labels; this.drawLabels(); }
  drawLabels() {
    const [width, height] = this.paneSize(), taken = this.covers(), shown = [];
    this.ruler.font = `700 12.5px ${getComputedStyle(document.body).fontFamily}`;
    for (const label of this.panes.length === 1 ? this.labels : []) {
      const [x, y] = this.onScreen(label.place), half = label.half ??= Math.min(110, this.ruler.measureText(label.text.slice(0, 80)).width / 2 + 6);
      if (x < -half || y < 0 || x > width + half || y > height || shown.length >= MOST_LABELS) continue;
      const middle = Math.max(half + 2, Math.min(width - half - 2, x)), box = [middle - half, y - 10, middle + half, y + 10];
      if (taken.some(other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      const tag = element("span", { class: "label" }, label.text);
      tag.style.transform = `translate(-50%,-50%) translate(${middle.toFixed(1)}px,${y.toFixed(1)}px)`;
      shown.push(tag);
    }
    this.surface.replaceChildren(...shown);
  }

  // --- keys, and the lasso
  listen() {
    this.holder.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const keys = {
        ArrowLeft: () => this.panBy(-60, 0), ArrowRight: () => this.panBy(60, 0), ArrowUp: () => this.panBy(0, 60), ArrowDown: () => this.panBy(0, -60),
        "+": () => this.zoomBy(0.5), "=": () => this.zoomBy(0.5), "-": () => this.zoomBy(-0.5), 0: () => this.fit(),
        Enter: () => { const node = this.nearMiddle(); if (node >= 0) this.onSelect(node); },
      };
      if (keys[event.key] && event.target === this.holder) { event.preventDefault(); keys[event.key](); }
    });
    this.holder.addEventListener("pointermove", event => {
      if (event.buttons || event.pointerType === "touch") { this.onHover(-1); return; }
      const box = this.holder.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      this.hovered = this.nodeNear(x, y);
      this.onHover(this.hovered, x, y);
    });
    const surface = at("lasso"), path = surface.firstElementChild;
    const place = event => { const box = this.holder.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    surface.addEventListener("pointerdown", event => { this.lasso = [place(event)]; surface.setPointerCapture(event.pointerId); });
    surface.addEventListener("pointermove", event => {
      if (!this.lasso?.length) return;
      this.lasso.push(place(event));
      path.setAttribute("points", this.lasso.map(point => point.join(",")).join(" "));
    });
    surface.addEventListener("pointerup", () => {
      const outline = this.lasso;
      path.setAttribute("points", "");
      this.lasso = [];
      if (outline?.length > 2) this.onLasso(this.inside(outline.map(point => this.fromScreen(point))));
    });
  }
  setLasso(on) { this.lasso = on ? [] : null; at("lasso").classList.toggle("on", on); this.refresh(); }

  // The nodes in the foreground within a polygon.
  inside(corners) {
    const within = new Uint8Array(this.n), { places } = this.panes[0];
    const xs = corners.map(corner => corner[0]), ys = corners.map(corner => corner[1]);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (const point of this.front) {
      const x = places[2 * point], y = places[2 * point + 1];
      if (x < left || x > right || y < low || y > high) continue;
      let odd = 0;
      for (let i = 0, j = corners.length - 1; i < corners.length; j = i++)
        if ((ys[i] > y) !== (ys[j] > y) && x < (xs[j] - xs[i]) * (y - ys[i]) / (ys[j] - ys[i]) + xs[i]) odd ^= 1;
      if (odd) within[this.nodes ? this.nodes[point] : point] = 1;
    }
    return within;
  }
}

function unpack(positions) {
  const places = new Float32Array(positions.length);
  for (let i = 0; i < places.length; i++) places[i] = positions[i] * (WORLD / 65535);
  return places;
}

function pick(places, points) {
  const chosen = new Float32Array(2 * points.length);
  for (let i = 0; i < points.length; i++) { chosen[2 * i] = places[2 * points[i]]; chosen[2 * i + 1] = places[2 * points[i] + 1]; }
  return chosen;
}
