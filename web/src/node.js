// Everything about one node: its columns, its hops, its neighbours in the embedding and in the graph.

import { at, count, element } from "./dom.js";
import { bars } from "./charts.js";
import { colourOf, css } from "./colours.js";
import { isMissing, show } from "./data.js";

export class NodePanel {
  constructor(data, state, select) { Object.assign(this, { data, state, select }); }

  // What is known of a node: from the file, or from the server that sent the page.
  async facts(node) {
    const { data } = this;
    if (data.server) {
      const answer = await fetch("node/" + node);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return answer.json();
    }
    const part = (list, k) => Array.from(list.subarray(node * k, (node + 1) * k));
    const facts = {};
    if (data.nearest) facts.nearest = part(data.nearest.rows, data.nearest.k).map((row, i) => ({ row, score: data.nearest.scores[node * data.nearest.k + i] / 32767.5 - 1 }));
    if (data.linked) {
      const { offsets, rows, degrees } = data.linked;
      facts.linked = Array.from(rows.subarray(offsets[node], offsets[node + 1]));
      facts.degree = degrees[node];
    }
    if (data.suggested) facts.suggested = part(data.suggested.rows, data.suggested.k).map((row, i) => ({ row, shared: data.suggested.shared[node * data.suggested.k + i] })).filter(one => one.row >= 0);
    if (data.weights) {
      const mine = part(data.weights.values, data.weights.hops + 1), sum = mine.reduce((a, b) => a + b, 0) || 1;
      facts.weights = mine.map(value => value / sum);
    }
    return facts;
  }

  async show(node) {
    const { data } = this, panel = at("node");
    const heading = element("h2", { id: "chosen", tabindex: "-1" }, data.ids[node]);
    panel.replaceChildren(heading, this.table(node));
    let facts;
    try { facts = await this.facts(node); } catch (error) { panel.append(element("p", { class: "soft" }, "The details could not be loaded: " + error.message)); return {}; }
    if (this.state.selected !== node) return {};
    if (facts.weights) {
      panel.append(this.heading("Hops it listens to", "How much each distance in the graph counts in this node's vector."),
        element("p", { id: "hops" }, hopSentence(facts.weights)), bars(facts.weights, "Weight of each hop"));
    }
    if (facts.suggested) {
      panel.append(this.heading("Links it could have", "Near in the embedding but not linked in the graph."));
      panel.append(facts.suggested.length ? this.list(facts.suggested.map(one => one.row), (row, i) => this.reason(node, row, facts.suggested[i].shared), true) : element("p", { class: "soft" }, "None: its nearest nodes are linked already."));
    }
    if (facts.nearest) {
      panel.append(this.heading("Nearest in the embedding", "Nodes with the most similar vectors; 1 is the same direction (cosine)."),
        this.list(facts.nearest.map(one => one.row), (row, i) => facts.nearest[i].score.toFixed(3)));
    }
    if (facts.linked) {
      const some = facts.linked.length < facts.degree ? `${facts.linked.length} of ${count(facts.degree)}, drawn as lines` : facts.degree ? "Drawn as lines on the map." : "It has no edges.";
      panel.append(this.heading("Neighbours in the graph", some), this.list(facts.linked, () => ""));
    }
    if (!facts.nearest) panel.append(element("p", { class: "soft" }, data.detailsNote || ""));
    return facts;
  }

  heading(title, explanation) { return element("div", { class: "head" }, element("h3", {}, title), element("p", { class: "explain" }, explanation)); }

  table(node) {
    const rows = this.data.columns.map(column => element("tr", {}, element("th", { scope: "row", title: column.explain }, column.title), element("td", {}, show(column, node))));
    return element("table", { class: "facts" }, element("tbody", {}, ...rows));
  }

  reason(node, other, shared) {
    const alike = this.data.columns.filter(column => column.kind === "category" && column.source === "yours" && !isMissing(column, node) && column.values[node] === column.values[other]);
    const reasons = [shared ? `${count(shared)} shared neighbour${shared > 1 ? "s" : ""}` : "no shared neighbour", ...alike.slice(0, 2).map(column => `same ${column.title}`)];
    return reasons.join(", ");
  }

  list(rows, remark, below = false) {
    return element("ul", { class: below ? "nodes below" : "nodes" }, ...rows.map((row, i) => {
      const dot = element("i", { class: "dot" });
      dot.style.background = css(colourOf(this.state.colour, row));
      return element("li", {}, dot, element("button", { type: "button", onclick: () => { this.select(row); at("chosen")?.focus(); } }, this.data.ids[row]), element("span", { class: "remark" }, remark(row, i)));
    }));
  }
}

export function hopSentence(weights) {
  const peak = weights.indexOf(Math.max(...weights));
  let half = 0, sum = 0;
  while (half < weights.length - 1 && (sum += weights[half]) < 0.5) half++;
  const even = weights[peak] < 1.15 / weights.length;
  const first = even ? "This node listens to all distances about equally" : peak === 0 ? "This node listens to its own features most" : peak === 1 ? "This node listens to its direct neighbours most" : `This node listens to its ${peak}-hop surroundings most`;
  return `${first}; half of the weight lies within ${half} hop${half === 1 ? "" : "s"}.`;
}
