// Values and words of the cards of flows.
import type { Description, FlowInfo } from "../engine/types";

/** The mean of the values in the last `seconds`; NaN without values. */
export function recentMean(time: Float64Array, values: Float64Array | undefined, seconds: number): number {
  const end = time[time.length - 1];
  if (!values || end === undefined) return Number.NaN;
  return meanAfter(time, values, end - seconds);
}

/** The mean of the values after a time, and until another one; NaN without values. */
export function meanAfter(time: Float64Array, values: Float64Array | undefined, from: number, until = Infinity): number {
  let sum = 0;
  let count = 0;
  for (let row = time.length - 1; row >= 0 && (time[row] ?? 0) > from; row -= 1) {
    const value = values?.[row] ?? Number.NaN;
    if (Number.isNaN(value) || (time[row] ?? 0) > until) continue;
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

/**
 * Whether no two paths of a flow can share a link or a channel, so that their rates add up. Each path is followed from its
 * first link to the other host by the fewest links.
 */
export function isDisjoint(description: Description, flow: FlowInfo): boolean {
  const taken = new Set<string>();
  for (const path of flow.paths) {
    for (const link of route(description, flow, path)) {
      const info = description.links.find((other) => other.name === link);
      const medium = info?.cell ? `cell ${info.cell}` : `link ${link}`;
      if (taken.has(medium)) return false;
      taken.add(medium);
    }
  }
  return true;
}

/** The links of a path, in order. */
function route({ links }: Description, flow: FlowInfo, first: string): string[] {
  const start = links.find((link) => link.name === first);
  if (!start) return [first];
  const reached = new Set([flow.from]);
  let ways = [{ node: start.ends[0] === flow.from ? start.ends[1] : start.ends[0], passed: [first] }];
  while (ways.length > 0) {
    const next: typeof ways = [];
    for (const { node, passed } of ways) {
      if (node === flow.to) return passed;
      if (reached.has(node)) continue;
      reached.add(node);
      for (const { name, ends } of links) {
        const other = ends[0] === node ? ends[1] : ends[1] === node ? ends[0] : null;
        if (other !== null && !reached.has(other)) next.push({ node: other, passed: [...passed, name] });
      }
    }
    ways = next;
  }
  return [first];
}
