// Reads a frame out of the simulator.

import type { Simulation } from "../../pkg/mptcplab_web.js";
import type { Frame } from "./types";

/** The present frame, with the rows of samples and events since the last one. */
export function frameOf(
  run: Simulation,
  known: { speed: number; restarted: boolean; reasons: string[][] },
): Frame {
  run.collect();
  return {
    time: run.now(),
    finished: run.finished(),
    speed: known.speed,
    directions: run.directions() as Float64Array,
    packets: run.packets() as Float32Array,
    flows: JSON.parse(run.flows()),
    samples: {
      time: run.sample_time() as Float64Array,
      flow: run.sample_flow() as Uint16Array,
      path: run.sample_path() as Uint16Array,
      metric: run.sample_metric() as Uint8Array,
      value: run.sample_value() as Float64Array,
    },
    events: {
      time: run.event_time() as Float64Array,
      host: run.event_host() as Uint16Array,
      flow: run.event_flow() as Uint16Array,
      path: run.event_path() as Uint16Array,
      subflow: run.event_subflow() as Uint16Array,
      other: run.event_other() as Uint16Array,
      kind: run.event_kind() as Uint8Array,
      what: run.event_what() as Uint8Array,
      numbers: [
        run.event_numbers(0) as Float64Array,
        run.event_numbers(1) as Float64Array,
        run.event_numbers(2) as Float64Array,
      ],
      words: JSON.parse(run.event_words()),
    },
    restarted: known.restarted,
    reasons: known.reasons,
  };
}
