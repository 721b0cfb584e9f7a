// Which point lies nearest to a place: points sorted into the cells of a grid.

const CELLS = 256;

export class Grid {
  // places: x and y of each point between 0 and size; points: which of them count.
  constructor(places, points, size) {
    Object.assign(this, { places, size });
    this.starts = new Int32Array(CELLS * CELLS + 1);
    this.points = new Int32Array(points.length);
    const cells = new Int32Array(points.length);
    for (let i = 0; i < points.length; i++) {
      cells[i] = this.column(places[2 * points[i]]) + CELLS * this.column(places[2 * points[i] + 1]);
      this.starts[cells[i] + 1]++;
    }
    for (let cell = 0; cell < CELLS * CELLS; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    for (let i = 0; i < points.length; i++) this.points[next[cells[i]]++] = points[i];
  }
  column(value) { return Math.max(0, Math.min(CELLS - 1, Math.floor(value / this.size * CELLS))); }

  // The point nearest to [x, y], if it lies within reach.
  nearest([x, y], reach) {
    let best = -1, distance = reach * reach;
    for (let row = this.column(y - reach); row <= this.column(y + reach); row++) {
      const from = this.starts[CELLS * row + this.column(x - reach)], to = this.starts[CELLS * row + this.column(x + reach) + 1];
      for (let i = from; i < to; i++) {
        const point = this.points[i], d = (this.places[2 * point] - x) ** 2 + (this.places[2 * point + 1] - y) ** 2;
        if (d <= distance) { distance = d; best = point; }
      }
    }
    return best;
  }
}
