// Messages between the page and the workers that run the simulator.
//
// Owns their types. Each call has an answer with the same number.

import type { Action, Frame, Ghost, Loaded, Problem, SegmentView } from "./types";

/** Calls of the page, and the types of their results. */
export interface Calls {
  load: { arguments: [toml: string, seed: number]; result: null };
  edit: { arguments: [toml: string]; result: null };
  act: { arguments: [action: Action]; result: null };
  seek: { arguments: [time: number]; result: null };
  step: { arguments: []; result: null };
  segments: { arguments: []; result: SegmentView[] };
  capture: { arguments: []; result: Uint8Array };
  csv: { arguments: []; result: string };
  ghosts: { arguments: [toml: string, seed: number]; result: Ghost[] };
}

export type Name = keyof Calls;

export type ToWorker =
  | { type: "start"; module: WebAssembly.Module }
  | { type: "call"; id: number; name: Name; arguments: unknown[] }
  | { type: "speed"; speed: number }
  /** The page can draw one more frame. */
  | { type: "want" };

export type FromWorker =
  | { type: "answer"; id: number; result: unknown }
  | { type: "refused"; id: number; problem: Problem }
  /** The scenario of the following frames. */
  | { type: "loaded"; loaded: Loaded }
  | { type: "frame"; frame: Frame }
  | { type: "failure"; message: string }
  /** The simulator cannot go on: the worker must be replaced. */
  | { type: "crash"; message: string };
