// A ring of rows with a fixed number of numeric columns: the newest rows of a long run.

export class Ring {
  private readonly data: Float64Array;
  private start = 0;
  private count = 0;
  version = 0;
  /** Whether rows were overwritten. */
  overflowed = false;

  constructor(
    private readonly capacity: number,
    private readonly width: number,
  ) {
    this.data = new Float64Array(capacity * width);
  }

  get length(): number {
    return this.count;
  }

  push(...values: number[]): void {
    let at: number;
    if (this.count < this.capacity) {
      at = (this.start + this.count) % this.capacity;
      this.count += 1;
    } else {
      at = this.start;
      this.start = (this.start + 1) % this.capacity;
      this.overflowed = true;
    }
    for (let column = 0; column < this.width; column += 1) {
      this.data[at * this.width + column] = values[column] ?? Number.NaN;
    }
    this.version += 1;
  }

  at(row: number, column: number): number {
    return this.data[((this.start + row) % this.capacity) * this.width + column] ?? Number.NaN;
  }

  /** The first row whose first column is at least `value`; rows are in ascending order of this column. */
  lowerBound(value: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle, 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  clear(): void {
    this.start = 0;
    this.count = 0;
    this.overflowed = false;
    this.version += 1;
  }
}
