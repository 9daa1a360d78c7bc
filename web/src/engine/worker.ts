// A worker that runs the simulator: it advances virtual time, and sends a frame whenever the page can draw one.
//
// Owns the run and the pace. One frame costs at most BUDGET milliseconds of simulation, so the page keeps its frame rate
// when the run is slower than asked; the frame says which speed was reached.

import { initSync, Simulation } from "../../pkg/mptcplab_web.js";
import { ghostsOf } from "./ghosts";
import { frameOf } from "./frames";
import type { FromWorker, Name, ToWorker } from "./messages";
import type { Action, Frame, Problem } from "./types";

/** Milliseconds of simulation per frame. */
const BUDGET = 11;
/** Milliseconds per call of the simulator; between two calls the worker looks at the clock. */
const SLICE = 3;
/** Milliseconds between two computations of the sentences. */
const REASONS_EVERY = 250;
/** Longest pause, s, that counts as elapsed time: longer ones are those of a hidden page. */
const LONGEST_PAUSE = 0.1;

let simulation: Simulation | null = null;
let speed = 0;
let wanted = false;
let changed = false;
let restarted = true;
/** Virtual time to reach as fast as possible, after a replay; null otherwise. */
let goal: number | null = null;
/** Settles the promise of the call that set `goal`: null if the goal was reached or replaced, else what went wrong. */
let goalReached: ((problem: unknown) => void) | null = null;
let lastTick = 0;
/** Virtual seconds per call that take about SLICE ms. */
let slice = 1e-3;
let reasons: string[][] = [];
let reasonsAt = -Infinity;

function send(message: FromWorker, transfer: Transferable[] = []): void {
  (self as unknown as Worker).postMessage(message, transfer);
}

function problemOf(error: unknown): Problem {
  if (typeof error === "string") {
    try {
      return JSON.parse(error) as Problem;
    } catch {
      return { message: error, line: null, column: null };
    }
  }
  return { message: String(error), line: null, column: null };
}

/** The simulator counts in nanoseconds, so it may stop this much before a target, s. */
const RESOLUTION = 2e-9;

/** Advances to `target` within the budget. Returns whether it was reached. */
function advance(run: Simulation, target: number, until: number): boolean {
  while (target - run.now() > RESOLUTION && !run.finished()) {
    const begin = performance.now();
    if (begin >= until) return false;
    run.advance(Math.min(target, run.now() + slice));
    const took = performance.now() - begin;
    slice = Math.min(10, Math.max(1e-7, took < SLICE / 2 ? slice * 2 : took > SLICE ? slice / 2 : slice));
  }
  return true;
}

function tick(): void {
  const run = simulation;
  if (run === null) return;
  const now = performance.now();
  const elapsed = Math.min((now - lastTick) / 1000, LONGEST_PAUSE);
  lastTick = now;
  const before = run.now();
  let reachedSpeed = 0;
  try {
    if (goal !== null) {
      if (advance(run, goal, now + BUDGET)) {
        endGoal(null);
      }
      changed = true;
    } else if (speed > 0 && !run.finished()) {
      advance(run, speed === Infinity ? Infinity : before + elapsed * speed, now + BUDGET);
      reachedSpeed = elapsed > 0 ? (run.now() - before) / elapsed : 0;
      changed = true;
    }
    if (changed) emit(run, reachedSpeed);
  } catch (error) {
    speed = 0;
    endGoal(error);
    if (hasCrashed(error)) return;
    send({ type: "failure", message: problemOf(error).message });
    emit(run, 0);
  }
}

/** Whether the simulator has stopped for good: it throws text for what it refuses, and nothing else. */
function hasCrashed(error: unknown): boolean {
  if (typeof error === "string") return false;
  simulation = null;
  send({ type: "crash", message: problemOf(error).message });
  return true;
}

function emit(run: Simulation, reachedSpeed: number): void {
  const now = performance.now();
  const due = now - reasonsAt > REASONS_EVERY || restarted || run.finished();
  if (due) {
    reasons = JSON.parse(run.reasons()) as string[][];
    reasonsAt = now;
  }
  const frame: Frame = frameOf(run, { speed: reachedSpeed, restarted, reasons });
  changed = false;
  restarted = false;
  wanted = false;
  const { samples, events } = frame;
  send({ type: "frame", frame }, [
    frame.directions.buffer, frame.packets.buffer,
    samples.time.buffer, samples.flow.buffer, samples.path.buffer, samples.metric.buffer, samples.value.buffer,
    events.time.buffer, events.host.buffer, events.flow.buffer, events.path.buffer, events.subflow.buffer,
    events.other.buffer, events.kind.buffer, events.what.buffer,
    ...events.numbers.map((column) => column.buffer),
  ] as Transferable[]);
}

class NothingLoaded extends Error {}

function endGoal(problem: unknown): void {
  const settle = goalReached;
  goal = null;
  goalReached = null;
  settle?.(problem);
}

/** Goes to `time` as fast as possible; after a restart, all events until then are simulated again. */
function goTo(time: number, isReplay: boolean): Promise<void> {
  endGoal(null);
  goal = time;
  restarted ||= isReplay;
  changed = true;
  slice = 1e-3;
  return new Promise((resolve, reject) => {
    goalReached = (problem) => (problem === null ? resolve() : reject(problem));
    if (wanted) tick();
  });
}

/** Tells the page the new scenario, before frames of it. */
function tellLoaded(run: Simulation): void {
  send({ type: "loaded", loaded: { toml: run.toml(), description: JSON.parse(run.description()) } });
}

/** Goes on until `time` after an edit, from the start by a replay if the run does not continue. */
async function goOn(run: Simulation, time: number, continues: boolean): Promise<null> {
  tellLoaded(run);
  changed = true;
  if (!continues || time > run.now()) await goTo(time, !continues);
  else if (wanted) tick();
  return null;
}

/** The time at which a change by a person has taken effect: a change takes effect at the next full millisecond. While
 * paused, the run goes on until then, so that the change shows. */
function settled(now: number): number {
  return speed > 0 || now <= 0 ? now : (Math.floor(now * 1e3) + 1) / 1e3 + 1e-6;
}

async function call(name: Name, values: unknown[]): Promise<unknown> {
  if (name === "ghosts") return ghostsOf(values[0] as string, values[1] as number);
  if (name === "load") {
    const next = new Simulation(values[0] as string, values[1] as number);
    endGoal(null);
    simulation?.free();
    simulation = next;
    restarted = true;
    slice = 1e-3;
    return goOn(next, 0, true);
  }
  const run = simulation;
  if (run === null) throw new NothingLoaded("no scenario is loaded");
  const now = goal ?? run.now();
  switch (name) {
    case "edit":
      return goOn(run, now, run.edit(values[0] as string));
    case "act":
      return goOn(run, settled(now), run.act(JSON.stringify(values[0] as Action), now));
    case "seek": {
      const time = values[0] as number;
      const back = time < run.now();
      if (back) run.restart();
      await goTo(time, back);
      return null;
    }
    case "step":
      run.step();
      changed = true;
      if (wanted) tick();
      return null;
    case "segments":
      return JSON.parse(run.segments());
    case "capture":
      return run.capture();
    case "csv":
      return run.csv();
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  switch (message.type) {
    case "start":
      initSync({ module: message.module });
      break;
    case "speed":
      speed = message.speed;
      lastTick = performance.now();
      if (wanted) tick();
      break;
    case "want":
      wanted = true;
      tick();
      break;
    case "call":
      call(message.name, message.arguments).then(
        (result) => send({ type: "answer", id: message.id, result }),
        (error: unknown) => {
          send({ type: "refused", id: message.id, problem: problemOf(error) });
          if (message.name !== "ghosts" && !(error instanceof NothingLoaded)) hasCrashed(error);
        },
      );
      break;
  }
};
