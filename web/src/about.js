// How the embedding was made, how good the clusters are, and what the words mean.

import { at, element } from "./dom.js";
import { curves } from "./charts.js";

const WORDS = [
  ["Embedding", "A list of numbers, called a vector, for each node. Similar nodes have similar vectors; the dimension is the number of numbers."],
  ["Map", "The embedding drawn on a plane by t-SNE. Points that are close are similar; distances between far groups mean little."],
  ["Edge, neighbour, degree", "A link between two nodes; a node at the other end of a link; the number of links of a node."],
  ["Hop", "A step along an edge. A node's 2-hop surroundings are the neighbours of its neighbours."],
  ["K (n hops)", "The largest number of hops that a node's vector takes into account."],
  ["Smoothing", "Averaging a node's features with those of its neighbours; each repetition reaches one hop further."],
  ["Plain smoothing Â^K X", "Smoothing every node over exactly K hops. With many hops all nodes become alike, so NAFS gives each node its own weights over hops."],
  ["Mean smoothing hop", "How far a node looks on average; higher where the graph around it is sparse."],
  ["Cosine", "The similarity of two vectors: 1 if they point the same way, 0 if they have nothing in common, -1 if they are opposite."],
  ["Cluster", "A group of nodes with similar vectors, found without labels."],
  ["Cohesion", "Mean cosine between the nodes of a cluster and its centre; 1 is as tight as possible."],
  ["Trial clustering", "One of many clusterings by different methods and random starts, from which the clusters shown were voted."],
  ["Agreement", "How similar the trial clusterings are to the clusters shown: the mean adjusted Rand index (0 as by chance, 1 identical) for all clusters, the mean overlap for one cluster."],
  ["Typical node", "A node close to the centre of its cluster."],
  ["Suggested link", "Two nodes with similar vectors and no edge between them. Shared neighbours are nodes that both are linked to."],
  ["Modularity", "The share of edges inside clusters beyond what chance would give; higher is better."],
  ["Conductance", "The share of edges that leave a cluster, averaged over clusters; lower is better."],
  ["ACC, NMI, ARI, F1", "How well the clusters match the labels; 1 is a perfect match. Labels are used only for this comparison."],
  ["Smoothing speed", "How quickly features approach those of a completely smoothed graph, in which only the degree of a node matters."],
  ["r", "How much the degree of a neighbour counts when features are averaged: 0 counts all neighbours equally, 0.5 counts those with many links less."],
  ["Ensemble", "How the vectors of several r are combined: their mean, their maximum, or all side by side (concat)."],
  ["Weighting", "How hops are weighted. Adaptive: for each node by how far it still is from over-smoothing, where all nodes look alike."],
  ["Distance", "How over-smoothing is measured: by the cosine with the node's own features, or by a Euclidean distance."],
  ["Preprocessing, center", "What is done to the features first, such as TF-IDF for words, and which mean is subtracted."],
  ["Dim, reduction", "The number of columns that wide features are reduced to before smoothing, and the method."],
  ["Structure", "Columns that describe a node's position in the graph, added to its features where that helps; the share is their weight."],
  ["Seed", "The number that makes random choices repeatable."],
  ["Goal", "What the settings were chosen for where nobody set them: clusters or links."],
  ["Chosen", "Why settings that nobody set have their values. A partition is a trial clustering; the consensus is what most of them agree on."],
  ["Input", "The number of nodes, and checksums of the edges and features: the same input has the same checksums."],
  ["Version", "The version of nafs that computed the vectors."],
  ["Engine, state dtype", "Where smoothing was computed (in memory, on disk or on several machines), and in which precision."],
];

export function buildAbout(data) {
  const table = rows => element("table", { class: "facts" }, element("tbody", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))));
  const cards = data.cards.map(card => element("section", {}, element("h3", {}, card.title), card.text ? element("p", { class: "explain" }, card.text) : null, card.chart ? curves(card.chart) : table(card.rows)));
  const words = element("section", {}, element("h3", {}, "Glossary"), element("dl", { class: "words" }, ...WORDS.flatMap(([word, meaning]) => [element("dt", {}, word), element("dd", {}, meaning)])));
  at("about").replaceChildren(...cards, words);
}
