// What is shown: colour, filters, the isolated cluster, the lasso. Everything that is drawn follows from it.

export class State {
  constructor(data) {
    this.data = data;
    this.colour = data.columns[data.colour];
    this.filters = new Map(); // column: does a node pass?
    this.lasso = null; // 1 for each node inside
    this.selected = -1;
    this.listeners = [];
    this.active = new Uint8Array(data.n).fill(1);
    this.kept = data.n;
  }
  changed() { this.listeners.forEach(listener => listener()); }
  setFilter(column, passes) {
    if (passes) this.filters.set(column, passes); else this.filters.delete(column);
    this.update();
  }
  setLasso(within) { this.lasso = within; this.update(); }
  clear() { this.filters.clear(); this.lasso = null; this.update(); }
  get isFiltered() { return this.filters.size > 0 || this.lasso !== null; }
  update() {
    const { n } = this.data, passes = [...this.filters.values()];
    this.kept = 0;
    for (let node = 0; node < n; node++) {
      let keep = this.lasso ? this.lasso[node] : 1;
      for (let i = 0; keep && i < passes.length; i++) keep = passes[i](node) ? 1 : 0;
      this.active[node] = keep;
      this.kept += keep;
    }
    this.changed();
  }
  isolated(column) { return this.filters.get(column)?.code ?? -1; }
  isolate(column, code) {
    const passes = code < 0 || this.isolated(column) === code ? null : node => column.values[node] === code;
    if (passes) passes.code = code;
    this.setFilter(column, passes);
  }
}
