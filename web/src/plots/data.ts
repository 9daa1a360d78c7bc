// Columns in the form of uPlot: one time axis, and null for missing values.
import type { Curve } from "./series";

export type Aligned = [number[], ...(number | null)[][]];

/** Values of a series at other times, by linear interpolation; null outside the series. */
export function resampled(time: Float64Array, values: Float64Array, at: ArrayLike<number>): (number | null)[] {
  const result: (number | null)[] = new Array<number | null>(at.length);
  let row = 0;
  for (let index = 0; index < at.length; index += 1) {
    const wanted = at[index] ?? 0;
    while (row + 1 < time.length && (time[row + 1] ?? 0) < wanted) row += 1;
    const [before, after] = [time[row] ?? Number.NaN, time[row + 1] ?? Number.NaN];
    const [low, high] = [values[row] ?? Number.NaN, values[row + 1] ?? Number.NaN];
    if (wanted < before || Number.isNaN(before)) result[index] = null;
    else if (wanted === before || Number.isNaN(after)) result[index] = wanted === before ? finite(low) : null;
    else result[index] = finite(low + ((high - low) * (wanted - before)) / (after - before));
  }
  return result;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** At each time, the mean of the values of the last `seconds`; missing values do not count. */
export function smoothed(time: Float64Array, values: Float64Array, seconds: number): Float64Array {
  const result = new Float64Array(values.length).fill(Number.NaN);
  let sum = 0;
  let present = 0;
  let first = 0;
  for (let row = 0; row < values.length; row += 1) {
    const added = values[row] ?? Number.NaN;
    if (Number.isFinite(added)) [sum, present] = [sum + added, present + 1];
    const from = (time[row] ?? 0) - seconds + 1e-6;
    for (; first < row && (time[first] ?? 0) < from; first += 1) {
      const removed = values[first] ?? Number.NaN;
      if (Number.isFinite(removed)) [sum, present] = [sum - removed, present - 1];
    }
    if (present > 0 && Number.isFinite(added)) result[row] = sum / present;
  }
  return result;
}

/** Data of one plot. Ghosts go on after the present time, so the axis has their later times too. */
export function aligned(time: Float64Array, curves: Curve[], scale: number): Aligned {
  const axis = Array.from(time);
  const last = axis[axis.length - 1] ?? -Infinity;
  const ghost = curves.find((curve) => curve.ghost)?.ghost;
  if (ghost) for (const later of ghost.time) if (later > last) axis.push(later);
  const columns = curves.map((curve): (number | null)[] => {
    if (curve.ghost) {
      return resampled(curve.ghost.time, curve.ghost.goodput, axis).map((value) => value && value / scale);
    }
    const column = new Array<number | null>(axis.length).fill(null);
    curve.values?.forEach((value, row) => {
      if (Number.isFinite(value)) column[row] = value / scale;
    });
    return column;
  });
  return [axis, ...columns];
}

/** The top of the vertical axis: above 98% of the values of each curve, so that short bursts do not flatten the rest. */
export function topOf(columns: (number | null)[][]): number {
  let top = 0;
  for (const column of columns) {
    const values = column.filter((value): value is number => value !== null).sort((a, b) => a - b);
    const high = values[Math.ceil(0.98 * values.length) - 1];
    if (high !== undefined) top = Math.max(top, high);
  }
  return top > 0 ? top * 1.15 : 1;
}
