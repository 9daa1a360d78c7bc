// Samples in columns that share one time axis, with a bound on the memory of long runs.

const LIMIT = 2400;

/**
 * Rows of samples. When a column would exceed `limit` rows, pairs of rows become their mean, and from then on each row
 * holds the mean of twice as many samples.
 */
export class SampleTable {
  private times: Float64Array;
  private readonly columns = new Map<number, Float64Array>();
  private rows = 0;
  private stride = 1;
  private readonly pending = new Map<number, { sum: number; count: number }>();
  private pendingTime = Number.NaN;
  private pendingRows = 0;
  /** Changes with every change of the content. */
  version = 0;

  constructor(private readonly limit = LIMIT) {
    this.times = new Float64Array(limit);
  }

  get length(): number {
    return this.rows;
  }

  /** Samples of one instant arrive together; a new time ends the row. */
  add(time: number, key: number, value: number): void {
    if (time !== this.pendingTime) {
      if (!Number.isNaN(this.pendingTime)) this.pendingRows += 1;
      if (this.pendingRows >= this.stride) this.flush();
      this.pendingTime = time;
    }
    if (!Number.isFinite(value)) return;
    const sum = this.pending.get(key);
    if (sum) {
      sum.sum += value;
      sum.count += 1;
    } else {
      this.pending.set(key, { sum: value, count: 1 });
    }
  }

  /** Ends the present row, at the end of a batch of samples. */
  endBatch(): void {
    if (Number.isNaN(this.pendingTime)) return;
    this.pendingRows += 1;
    if (this.pendingRows >= this.stride) this.flush();
    this.pendingTime = Number.NaN;
  }

  time(): Float64Array {
    return this.times.subarray(0, this.rows);
  }

  /** NaN where a sample is missing; undefined if the column has no sample. */
  column(key: number): Float64Array | undefined {
    return this.columns.get(key)?.subarray(0, this.rows);
  }

  clear(): void {
    this.rows = 0;
    this.stride = 1;
    this.columns.clear();
    this.pending.clear();
    this.pendingTime = Number.NaN;
    this.pendingRows = 0;
    this.version += 1;
  }

  private flush(): void {
    if (this.rows === this.limit) {
      // The present row now needs as many further samples.
      this.halve();
      if (this.pendingRows < this.stride) return;
    }
    this.times[this.rows] = this.pendingTime;
    for (const column of this.columns.values()) column[this.rows] = Number.NaN;
    for (const [key, sum] of this.pending) {
      let column = this.columns.get(key);
      if (!column) {
        column = new Float64Array(this.limit).fill(Number.NaN);
        this.columns.set(key, column);
      }
      column[this.rows] = sum.sum / sum.count;
    }
    this.rows += 1;
    this.pending.clear();
    this.pendingRows = 0;
    this.version += 1;
  }

  private halve(): void {
    const half = this.rows >> 1;
    for (let row = 0; row < half; row += 1) {
      this.times[row] = this.times[2 * row + 1] ?? Number.NaN;
      for (const column of this.columns.values()) {
        const first = column[2 * row] ?? Number.NaN;
        const second = column[2 * row + 1] ?? Number.NaN;
        column[row] = Number.isNaN(first) ? second : Number.isNaN(second) ? first : (first + second) / 2;
      }
    }
    this.rows = half;
    this.stride *= 2;
  }
}
