// The page: reads its data, then connects the map with everything beside it.

import { buildAbout } from "./about.js";
import { buildClusters, clusterLabels } from "./clusters.js";
import { coloursOf, isDark } from "./colours.js";
import { buildFilters, buildLegend } from "./columns.js";
import { isServed, readData, show } from "./data.js";
import { at, count, element } from "./dom.js";
import { asCsv, download } from "./export.js";
import { PointMap } from "./map.js";
import { NodePanel } from "./node.js";
import { buildReplay } from "./replay.js";
import { buildSearch } from "./search.js";
import { State } from "./state.js";

const TABS = ["clusters", "filter", "node", "about"];

function start(data) {
  data.columns[data.clusters.column].again = true;
  const state = new State(data);
  document.title = data.title;
  at("title").textContent = data.title;
  at("subtitle").textContent = data.subtitle;
  const map = new PointMap(at("map"), { onSelect: select, onHover: hover, onLasso: within => { state.setLasso(within); pan(); }, onFail: () => { at("failed").hidden = false; } });
  let follow = () => {};
  const panel = new NodePanel(data, state, node => select(node, true));

  // --- tabs
  const openTab = name => {
    for (const other of TABS) {
      at("tab-" + other).setAttribute("aria-selected", String(other === name));
      at("tab-" + other).tabIndex = other === name ? 0 : -1;
      at("panel-" + other).hidden = other !== name;
    }
  };
  TABS.forEach((name, i) => {
    at("tab-" + name).addEventListener("click", () => openTab(name));
    at("tab-" + name).addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
      if (step) { const next = TABS[(i + step) % TABS.length]; openTab(next); at("tab-" + next).focus(); }
    });
  });

  // --- one node
  async function select(node, travel = false) {
    state.selected = node;
    follow([node]);
    openTab("node");
    map.mark(node, [], []);
    if (travel) map.goTo(node);
    const facts = await panel.show(node);
    if (state.selected !== node) return;
    const lines = [...(facts.linked || []).map(one => ({ node: one })), ...(facts.suggested || []).map(one => ({ node: one.row, suggested: true }))];
    const rings = (facts.nearest || []).map(one => one.row);
    follow([node, ...lines.map(line => line.node), ...rings]);
    map.mark(node, lines, rings);
    at("status").textContent = "Selected " + data.ids[node];
    document.documentElement.dataset.selected = data.ids[node];
  }
  function hover(node, x, y) {
    const tip = at("tip");
    tip.hidden = node < 0;
    if (node < 0) return;
    tip.replaceChildren(element("strong", {}, data.ids[node]), ...data.columns.filter(column => !isServed(column)).slice(0, 9).map(column => element("div", {}, element("span", {}, column.title), element("b", {}, show(column, node)))));
    const box = at("map").getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, box.width - tip.offsetWidth - 6)) + "px";
    tip.style.top = Math.max(4, Math.min(y + 14, box.height - tip.offsetHeight - 6)) + "px";
  }
  at("map").addEventListener("pointerleave", () => { at("tip").hidden = true; });

  // --- colours
  const colour = at("colour");
  const groups = { yours: element("optgroup", { label: "Your columns" }), nafs: element("optgroup", { label: "From the embedding" }) };
  data.columns.forEach((column, i) => { if (column.kind !== "text") groups[column.source].append(element("option", { value: i }, column.title)); });
  colour.append(...Object.values(groups).filter(group => group.children.length));
  colour.value = data.colour;
  const labels = clusterLabels(data, data.positions), clusterColumn = data.columns[data.clusters.column];
  buildLegend(data, state);
  buildClusters(data, state, node => select(node, true));
  function paint() {
    map.paint(coloursOf(state.colour, data.n), state.active);
    const alone = state.isolated(clusterColumn);
    map.setLabels(at("names").ariaPressed === "true" ? labels.filter(label => alone < 0 || label.code === alone) : []);
  }
  colour.addEventListener("change", () => { state.colour = data.columns[Number(colour.value)]; state.changed(); });
  at("names").addEventListener("click", () => { at("names").ariaPressed = String(at("names").ariaPressed !== "true"); paint(); });

  // --- what is in the foreground
  state.listeners.push(paint, () => {
    at("chip").hidden = !state.isFiltered;
    at("kept").textContent = `${count(state.kept)} of ${count(data.n)} nodes`;
    at("everything").textContent = `${count(state.kept)} nodes`;
  });
  const save = () => download(asCsv(data, state.active), state.isFiltered ? "selection.csv" : "nodes.csv");
  at("export").addEventListener("click", save);
  at("exportall").addEventListener("click", save);
  at("unselect").addEventListener("click", () => at("clear").click());

  // --- tools
  const pan = () => { map.setLasso(false); at("lassomode").setAttribute("aria-pressed", "false"); };
  at("lassomode").addEventListener("click", () => { const on = at("lassomode").ariaPressed !== "true"; map.setLasso(on); at("lassomode").setAttribute("aria-pressed", String(on)); });
  at("closer").addEventListener("click", () => map.zoomBy(0.7));
  at("further").addEventListener("click", () => map.zoomBy(-0.7));
  at("whole").addEventListener("click", () => map.fit());
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") pan();
    if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); at("search").focus(); }
  });
  const theme = dark => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    at("theme").textContent = dark ? "Light" : "Dark";
    state.changed();
  };
  at("theme").addEventListener("click", () => theme(!isDark()));

  buildFilters(data, state);
  buildSearch(data, select);
  buildAbout(data);
  map.show([{ title: "", positions: data.positions }], null, data.n);
  follow = buildReplay(data, state, map, () => paint());
  openTab("clusters");
  theme(isDark());
  window.nafs = { data, state, map }; // for tests and for the curious
}

const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = dark ? "dark" : "light";
readData(at("data")).then(start).then(
  () => { at("loading").hidden = true; performance.mark("nafs-ready"); document.documentElement.dataset.ready = "yes"; },
  error => { at("loading").textContent = "This page could not be opened: " + error.message; console.error(error); },
);
