// The state of the page: one source, its present scenario and frame, and the actions of the reader.
import type { Action, Description, Frame, Ghost, Loaded, Problem, Source } from "../engine/types";
import { colourOf, Hues } from "../ui/palette";
import { theme } from "../ui/theme.svelte";
import { Announcer } from "./announcer.svelte";
import { History } from "./history";
import { notableText } from "./sentences";

export type Selection = { kind: "link" | "node"; name: string } | null;
/** Time after the end of a run in which Play does nothing, ms. */
const GRACE = 500;
/** The value of `Session.busy` while a scenario is loaded. */
export const LOADING = "Loading";
/** Speeds above this mean as fast as possible. */
export const TOP_SPEED = 100;

const EMPTY: Description = {
  name: "",
  description: "",
  duration: 0,
  sample: 0.1,
  warmup: 0,
  nodes: [],
  links: [],
  flows: [],
  middleboxes: [],
  cells: [],
  paths: [],
  hosts: [],
  metrics: [],
};

export function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "message" in error && "line" in error;
}

export function problemOf(error: unknown): Problem {
  if (isProblem(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return { message, line: null, column: null };
}

export class Session {
  loaded = $state.raw<Loaded | null>(null);
  frame = $state.raw<Frame | null>(null);
  ghosts = $state.raw<Ghost[]>([]);
  seed = $state(1);
  playing = $state(false);
  speed = $state(1);
  /** A call that takes time: loading, or a jump. */
  busy = $state<string | null>(null);
  /** The last error of the scenario's text. */
  problem = $state.raw<Problem | null>(null);
  /** The last action that the source refused. */
  refusal = $state<string | null>(null);
  /** What the page did by itself. */
  notice = $state<string | null>(null);
  failure = $state<string | null>(null);
  selection = $state.raw<Selection>(null);
  /** The text as it was loaded, before the reader's changes. */
  original = $state("");
  /** Counts the starts of runs; plots forget their zoom then. */
  generation = $state(0);
  /** Actions that the source accepted, for lessons. */
  done = $state.raw<Action[]>([]);
  readonly history = new History();
  readonly announcer = new Announcer();
  readonly description = $derived(this.loaded?.description ?? EMPTY);
  readonly hues = $derived(new Hues(this.description.flows));
  readonly time = $derived(this.frame?.time ?? 0);
  readonly finished = $derived(this.frame?.finished ?? false);
  private pending = 0;
  private endedAt = -Infinity;

  constructor(readonly source: Source) {
    source.onFrame = (frame) => this.accept(frame);
    source.onLoaded = (loaded) => this.acceptLoaded(loaded);
    source.onGhosts = (ghosts) => {
      this.ghosts = ghosts;
    };
    source.onFailure = (message) => {
      this.failure = message;
      this.playing = false;
      this.announcer.say(message);
    };
  }

  /** Loads a scenario. Returns whether it was accepted; `problem` tells why not. */
  async load(toml: string, seed = this.seed): Promise<boolean> {
    return this.during(LOADING, async () => {
      this.pause();
      await this.source.load(toml, seed);
      this.ghosts = [];
      this.seed = seed;
      this.original = toml;
      this.selection = null;
      this.failure = null;
      this.refusal = null;
      this.notice = null;
      this.done = [];
    });
  }

  async edit(toml: string): Promise<boolean> {
    return this.during("Applying", async () => {
      await this.source.edit(toml);
      this.failure = null;
      this.announcer.say("Scenario applied.");
    });
  }

  async act(action: Action): Promise<boolean> {
    try {
      if (this.finished && this.source.can.seek && !isForWholeRun(action)) await this.rewind();
      await this.source.act(action);
      this.refusal = null;
      this.done = [...this.done, action];
      return true;
    } catch (error) {
      this.refusal = problemOf(error).message;
      this.announcer.say(this.refusal);
      return false;
    }
  }

  /** A change after the end would have no effect, so the run goes back to its start. */
  private async rewind(): Promise<void> {
    await this.source.seek(0);
    // The answer may arrive before the frame.
    while (this.finished) await new Promise((resolve) => setTimeout(resolve, 20));
    this.notice = "The run had ended, so it is back at its start.";
    this.announcer.say(this.notice);
  }

  /** The colour of a path of a flow, by their indices. */
  pathColour(flow: number, path: number): string {
    const owner = this.description.flows[flow];
    const name = this.description.paths[path];
    return colourOf(theme.colours, owner && name ? this.hues.of(owner.name, name) : -1);
  }

  play(): void {
    if (this.finished || this.loaded === null || this.busy === LOADING) return;
    this.playing = true;
    this.notice = null;
    this.source.setSpeed(this.speed > TOP_SPEED ? Infinity : this.speed);
  }

  pause(): void {
    this.playing = false;
    this.source.setSpeed(0);
  }

  togglePlay(): void {
    // A press that was meant to pause must not start the run again.
    if (performance.now() - this.endedAt < GRACE) return;
    if (this.playing) this.pause();
    else if (this.finished && this.source.can.seek) void this.seek(0).then(() => this.play());
    else this.play();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    if (this.playing) this.source.setSpeed(speed > TOP_SPEED ? Infinity : speed);
  }

  async seek(time: number): Promise<void> {
    const target = Math.min(Math.max(0, time), this.description.duration);
    this.refusal = null;
    await this.during("Replaying", () => this.source.seek(target));
  }

  async step(): Promise<void> {
    this.pause();
    await this.during("Stepping", () => this.source.step());
  }

  private async during(word: string, task: () => Promise<void>): Promise<boolean> {
    this.pending += 1;
    this.busy = word;
    try {
      await task();
      this.problem = null;
      return true;
    } catch (error) {
      this.problem = problemOf(error);
      this.announcer.say(`Error: ${this.problem.message}`);
      return false;
    } finally {
      this.pending -= 1;
      if (this.pending === 0) this.busy = null;
    }
  }

  private acceptLoaded(loaded: Loaded): void {
    const before = this.loaded?.description;
    this.loaded = loaded;
    if (!before || !sameIndices(before, loaded.description)) {
      this.history.reset(loaded.description);
      this.generation += 1;
    }
    const selection = this.selection;
    if (selection?.kind === "link" && !loaded.description.links.some((link) => link.name === selection.name)) {
      this.selection = null;
    }
  }

  private accept(frame: Frame): void {
    if (frame.restarted) this.generation += 1;
    const fresh = this.history.add(frame);
    const ended = frame.finished && !this.frame?.finished;
    this.frame = frame;
    if (!frame.finished) this.endedAt = -Infinity;
    if (ended) {
      // Otherwise the run would go on at its old speed after a jump back.
      this.pause();
      this.endedAt = performance.now();
      this.announcer.say("The run has ended.");
    }
    const texts = fresh.map((notable) => notableText(notable, this.description)).filter((text) => text !== null);
    for (const text of texts.slice(0, 3)) this.announcer.say(text);
  }
}

/** Whether an action changes the run from its start on, so that the page replays it. */
function isForWholeRun(action: Action): boolean {
  return action.kind === "policy" && action.scheduler === undefined && action.congestion === undefined;
}

/** Whether rows of both descriptions mean the same. */
function sameIndices(before: Description, after: Description): boolean {
  const indices = ({ flows, paths, hosts }: Description) =>
    JSON.stringify([flows.map(({ name, sender }) => [name, sender]), paths, hosts]);
  return indices(before) === indices(after);
}
