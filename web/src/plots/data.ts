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
