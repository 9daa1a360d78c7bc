// Runs the same scenario with plain TCP over each path, to compare a Multipath TCP flow with.

import { Simulation } from "../../pkg/mptcplab_web.js";
import type { Description, Ghost } from "./types";

/** Goodput over time of each comparison, from the start to the end of the run. */
export function ghostsOf(toml: string, seed: number): Ghost[] {
  const whole = new Simulation(toml, seed);
  const description = JSON.parse(whole.description()) as Description;
  const goodput = description.metrics.findIndex((metric) => metric.name === "goodput");
  const list = JSON.parse(whole.ghosts()) as { flow: string; path: string }[];
  const ghosts = list.map(({ flow, path }, index) => {
    const run = whole.ghost(index);
    run.advance(Infinity);
    run.collect();
    const [times, flows, paths, metrics, values] =
      [run.sample_time(), run.sample_flow(), run.sample_path(), run.sample_metric(), run.sample_value()];
    // A comparison has fewer subflows than the scenario, so its indices differ.
    const own = JSON.parse(run.description()) as Description;
    run.free();
    const at = own.flows.findIndex((known) => known.name === flow);
    const all = own.paths.length;
    const rows: number[] = [];
    for (let row = 0; row < times.length; row += 1) {
      if (flows[row] === at && paths[row] === all && metrics[row] === goodput) rows.push(row);
    }
    const time = Float64Array.from(rows, (row) => times[row]!);
    const value = Float64Array.from(rows, (row) => values[row]!);
    const from = Math.max(description.warmup, own.flows[at]?.start ?? 0);
    const measured = value.filter((_, row) => time[row]! > from + description.sample / 2);
    const mean = measured.length > 0 ? measured.reduce((sum, one) => sum + one, 0) / measured.length : 0;
    return { flow, path, time, goodput: value, mean };
  });
  whole.free();
  return ghosts;
}
