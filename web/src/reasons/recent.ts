// Values and words of the cards of flows.

/** The mean of the values in the last `seconds`; NaN without values. */
export function recentMean(time: Float64Array, values: Float64Array | undefined, seconds: number): number {
  const end = time[time.length - 1];
  if (!values || end === undefined) return Number.NaN;
  return meanAfter(time, values, end - seconds);
}

/** The mean of the values after a time; NaN without values. */
export function meanAfter(time: Float64Array, values: Float64Array | undefined, from: number): number {
  let sum = 0;
  let count = 0;
  for (let row = time.length - 1; row >= 0 && (time[row] ?? 0) > from; row -= 1) {
    const value = values?.[row] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
  }
  return count > 0 ? sum / count : Number.NaN;
}

/** A clause as a sentence. Names of links keep their letters. */
export function sentence(clause: string): string {
  const isWord = /^(the|other|data|a|an|random|it|nothing|no|all|windows)\b/.test(clause);
  const start = isWord ? `${clause[0]?.toUpperCase() ?? ""}${clause.slice(1)}` : clause;
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
