// How the embedding was made, how good the clusters are, and what the words mean.

import { at, element } from "./dom.js";
import { curves } from "./charts.js";

const WORDS = [
  ["Embedding", "A list of numbers (a vector) for each node; similar lists mean similar nodes. Dimensions: how many numbers."],
  ["Map", "The embedding drawn on a plane by t-SNE: near points are similar; distances between far groups mean little."],
  ["Edge, neighbour, degree", "A link between two nodes; nodes that are linked; how many links a node has."],
  ["Hop", "A step along an edge. A node's 2-hop surroundings are the neighbours of its neighbours."],
  ["K (n hops)", "The largest number of hops that vectors are smoothed over."],
  ["Smoothing", "Averaging a node's features with those of its surroundings, one hop further each time."],
  ["Plain smoothing Â^K X", "All nodes smoothed over exactly K hops: with many hops they all become alike. NAFS weighs the hops for each node instead."],
  ["Mean smoothing hop", "How far a node looks on average; higher where the graph around it is sparse."],
  ["Cosine", "Similarity of two vectors: 1 points the same way, 0 has nothing in common, -1 is opposite."],
  ["Cluster", "Nodes with similar vectors, found without labels."],
  ["Cohesion", "Mean cosine of a cluster's nodes with its centre; 1 is as tight as can be."],
  ["Agreement", "How far many ways to cluster (several methods and starts) find the same: for all clusters the mean adjusted Rand index, for one the mean overlap with its best match; 1 or 100 % is the same nodes."],
  ["Typical node", "A node near the centre of its cluster."],
  ["Suggested link", "Two nodes with similar vectors and no edge; shared neighbours are nodes that both are linked to."],
  ["Modularity", "Share of edges inside clusters, beyond what chance would give; higher is better."],
  ["Conductance", "Share of edges that leave a cluster, mean over clusters; lower is better."],
  ["ACC, NMI, ARI, F1", "How well clusters match the labels; 1 is a perfect match. Labels only judge, clusters never see them."],
  ["Smoothing speed", "How fast features approach those of a fully smoothed graph, where only the degree of a node still matters."],
  ["r", "How much a neighbour's degree counts when features are averaged: 0 is the mean over neighbours, 0.5 the symmetric one."],
  ["Ensemble", "How the vectors of several r are combined: their mean, their largest values, or side by side (concat)."],
  ["Weighting", "How hops are weighed: adaptive means for each node by how far it still is from over-smoothing."],
  ["Distance", "What measures how far smoothing has gone: the cosine with the node's own features, or a Euclidean distance."],
  ["Preprocessing, center", "What is done to features first, such as TF-IDF for words; which mean is subtracted."],
  ["Dim, reduction", "The number of columns that wide features are reduced to before smoothing, and how."],
];

export function buildAbout(data) {
  const table = rows => element("table", { class: "facts" }, element("tbody", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))));
  const cards = data.cards.map(card => element("section", {}, element("h3", {}, card.title), card.text ? element("p", { class: "explain" }, card.text) : null, card.chart ? curves(card.chart) : table(card.rows)));
  const words = element("section", {}, element("h3", {}, "Words used on this page"), element("dl", { class: "words" }, ...WORDS.flatMap(([word, meaning]) => [element("dt", {}, word), element("dd", {}, meaning)])));
  at("about").replaceChildren(...cards, words);
}
