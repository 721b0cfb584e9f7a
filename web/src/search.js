// Find nodes by id or by the text of their columns.

import { isServed } from "./data.js";
import { at, element } from "./dom.js";

const MOST = 12;

export function buildSearch(data, select) {
  const field = at("search"), list = at("results"), texts = data.columns.filter(column => column.kind === "text" && !isServed(column));
  const asks = data.columns.some(isServed);
  let lower = null, current = -1;

  function find(text) {
    lower ??= data.ids.map(id => id.toLowerCase());
    const wanted = text.trim().toLowerCase(), starts = [], within = [], exactly = [];
    if (!wanted) return [];
    const exact = data.ids.indexOf(text.trim());
    if (exact >= 0) exactly.push({ node: exact, where: "" });
    for (let node = 0; node < data.n && starts.length < MOST; node++) {
      if (lower[node].startsWith(wanted)) starts.push({ node, where: "" });
      else if (within.length < MOST && lower[node].includes(wanted)) within.push({ node, where: "" });
    }
    const matches = [...exactly, ...starts, ...within];
    for (const column of texts) {
      for (let node = 0; node < data.n && matches.length < 3 * MOST; node++) {
        const place = column.values[node]?.toLowerCase().indexOf(wanted) ?? -1;
        if (place >= 0) matches.push({ node, where: excerpt(column.values[node], place) });
      }
    }
    const seen = new Set();
    return matches.filter(({ node }) => !seen.has(node) && seen.add(node)).slice(0, MOST);
  }

  const excerpt = (text, place) => {
    const start = place > 24 ? text.indexOf(" ", place - 24) + 1 : 0;
    return (start > 0 && start <= place ? "… " + text.slice(start, place + 40) : text.slice(place > 24 ? place : 0, place + 40));
  };
  const close = () => { list.hidden = true; current = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const take = node => { close(); at("status").textContent = "Selected " + data.ids[node]; select(node, true); };

  async function ask(text) {
    const answer = await fetch("search?" + encodeURIComponent(text.trim()));
    if (!answer.ok || field.value !== text) return;
    const seen = new Set([...list.children].map(item => Number(item.dataset.node))), wanted = text.trim().toLowerCase();
    const more = (await answer.json()).filter(([node]) => !seen.has(node)).map(([node, words]) => ({ node, where: excerpt(words, words.toLowerCase().indexOf(wanted)) }));
    if (more.length && field.value === text) fill([...find(text), ...more].slice(0, MOST));
  }

  function open() {
    fill(find(field.value));
    if (asks && field.value.trim()) ask(field.value);
  }
  function fill(matches) {
    list.replaceChildren(...matches.map(({ node, where }, i) => element("li", { id: "result" + i, role: "option", "data-node": node, onpointerdown: event => { event.preventDefault(); take(node); } }, element("span", { class: "name" }, data.ids[node]), where ? element("span", { class: "where" }, where) : null)));
    list.hidden = matches.length === 0;
    field.setAttribute("aria-expanded", String(matches.length > 0));
    current = -1;
  }

  field.addEventListener("input", open);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", async event => {
    const items = [...list.children];
    if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      const text = field.value;
      let chosen = current >= 0 ? Number(items[current].dataset.node) : find(text)[0]?.node;
      if (chosen === undefined && asks && text.trim()) {
        await ask(text);
        chosen = field.value === text && list.firstElementChild ? Number(list.firstElementChild.dataset.node) : undefined;
      }
      if (chosen === undefined) at("status").textContent = text ? `No node has an id or text like “${text}”` : "";
      else take(chosen);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && items.length) {
      event.preventDefault();
      current = (current + (event.key === "ArrowDown" ? 1 : items.length - 1) + (current < 0 && event.key === "ArrowUp" ? 1 : 0)) % items.length;
      items.forEach((item, i) => item.setAttribute("aria-selected", String(i === current)));
      field.setAttribute("aria-activedescendant", items[current].id);
    }
  });
}
