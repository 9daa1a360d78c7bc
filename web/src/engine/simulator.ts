// The simulator as a source of the page: one worker runs the scenario, a second one the comparisons with plain TCP.
//
// Owns the two workers and the answers that are awaited. The page asks for a frame with each animation frame, so a
// hidden page costs nothing.

import compressed from "../../pkg/mptcplab_web_bg.wasm.gz?inline";
import type { Calls, FromWorker, Name, ToWorker } from "./messages";
import type { Action, Frame, Ghost, Loaded, SegmentView, Source } from "./types";
import EngineWorker from "./worker?worker&inline";

let compiled: Promise<WebAssembly.Module> | null = null;

/** The simulator, compiled once. It is part of the page, so that the page also works from a folder. */
function simulator(): Promise<WebAssembly.Module> {
  compiled ??= (async () => {
    const text = atob(compressed.slice(compressed.indexOf(",") + 1));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  })();
  return compiled;
}

/** A worker with calls that are answered. */
class Engine {
  readonly #worker = new EngineWorker();
  readonly #awaited = new Map<number, { resolve: (result: never) => void; reject: (problem: unknown) => void }>();
  readonly #ready: Promise<void>;
  #next = 1;

  constructor(onMessage: (message: FromWorker) => void) {
    this.#worker.onmessage = (event: MessageEvent<FromWorker>) => {
      const message = event.data;
      if (message.type === "answer" || message.type === "refused") {
        const awaited = this.#awaited.get(message.id);
        this.#awaited.delete(message.id);
        if (message.type === "answer") awaited?.resolve(message.result as never);
        else awaited?.reject(message.problem);
      } else onMessage(message);
    };
    this.#worker.onerror = (event) => {
      onMessage({ type: "crash", message: event.message });
    };
    this.#ready = simulator().then((module) => this.#worker.postMessage({ type: "start", module } satisfies ToWorker));
    this.#ready.catch((error: unknown) => {
      const message = `the simulator cannot start: ${String(error)}`;
      onMessage({ type: "failure", message });
      this.#refuse(message);
    });
  }

  /** Refuses all calls that wait for an answer. */
  #refuse(message: string): void {
    for (const { reject } of this.#awaited.values()) reject({ message, line: null, column: null });
    this.#awaited.clear();
  }

  post(message: ToWorker): void {
    this.#ready.then(
      () => this.#worker.postMessage(message),
      () => {},
    );
  }

  call<N extends Name>(name: N, ...values: Calls[N]["arguments"]): Promise<Calls[N]["result"]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#awaited.set(id, { resolve, reject });
      this.post({ type: "call", id, name, arguments: values });
    });
  }

  stop(message = "the simulator was stopped"): void {
    this.#worker.terminate();
    this.#refuse(message);
  }
}

/** The simulator in this browser. */
export class Simulator implements Source {
  readonly kind = "simulator";
  readonly can = { seek: true, edit: true, speed: true, segments: true, capture: true };
  onFrame: (frame: Frame) => void = () => {};
  onLoaded: (loaded: Loaded) => void = () => {};
  onGhosts: (ghosts: Ghost[]) => void = () => {};
  onFailure: (message: string) => void = () => {};
  #engine = new Engine((message) => this.#hear(message));
  /** The scenario of the present run. */
  #toml = "";
  #comparing: Engine | null = null;
  #comparison = 0;
  #seed = 1;
  #frame: Frame | null = null;
  #animation = 0;

  constructor() {
    const draw = () => {
      this.#animation = requestAnimationFrame(draw);
      this.#deliver();
    };
    this.#animation = requestAnimationFrame(draw);
    this.#engine.post({ type: "want" });
  }

  #deliver(): void {
    const frame = this.#frame;
    if (frame === null) return;
    this.#frame = null;
    // The worker computes the next frame while the page draws this one.
    this.#engine.post({ type: "want" });
    this.onFrame(frame);
  }

  #hear(message: FromWorker): void {
    if (message.type === "frame") {
      this.#frame = message.frame;
    } else if (message.type === "loaded") {
      // A frame that waits belongs to the scenario before.
      this.#deliver();
      this.#show(message.loaded);
    } else if (message.type === "failure") this.onFailure(message.message);
    else if (message.type === "crash") this.#recover(message.message);
  }

  /** Replaces a crashed simulator, and goes back to the start of the run. */
  #recover(message: string): void {
    const said = `The simulator stopped (${message}), and the run is back at its start.`;
    this.#engine.stop(said);
    this.#frame = null;
    this.#engine = new Engine((message) => this.#hear(message));
    this.#engine.post({ type: "want" });
    if (this.#toml !== "") this.#engine.call("load", this.#toml, this.#seed).catch(() => {});
    this.onFailure(said);
  }

  #show(loaded: Loaded): void {
    this.#toml = loaded.toml;
    this.onLoaded(loaded);
    void this.#compare(loaded.toml);
  }

  /** Runs the comparisons; those of an older text are given up. */
  async #compare(toml: string): Promise<void> {
    const own = (this.#comparison += 1);
    // Sliders cause many changes in a row.
    await new Promise((resolve) => setTimeout(resolve, 400));
    if (own !== this.#comparison) return;
    this.#comparing?.stop();
    const engine = (this.#comparing = new Engine(() => {}));
    try {
      const ghosts = await engine.call("ghosts", toml, this.#seed);
      if (own === this.#comparison) this.onGhosts(ghosts);
    } catch {
      // The main run reports what is wrong with the scenario.
    }
    engine.stop();
  }

  async load(toml: string, seed: number): Promise<void> {
    const before = this.#seed;
    this.#seed = seed;
    try {
      await this.#engine.call("load", toml, seed);
    } catch (problem) {
      this.#seed = before;
      throw problem;
    }
  }

  async edit(toml: string): Promise<void> {
    await this.#engine.call("edit", toml);
  }

  async act(action: Action): Promise<void> {
    await this.#engine.call("act", action);
  }

  setSpeed(speed: number): void {
    this.#engine.post({ type: "speed", speed });
  }

  async seek(time: number): Promise<void> {
    await this.#engine.call("seek", time);
  }

  async step(): Promise<void> {
    await this.#engine.call("step");
  }

  segments(): Promise<SegmentView[]> {
    return this.#engine.call("segments");
  }

  capture(): Promise<Uint8Array> {
    return this.#engine.call("capture");
  }

  csv(): Promise<string> {
    return this.#engine.call("csv");
  }

  close(): void {
    cancelAnimationFrame(this.#animation);
    this.#comparison += 1;
    this.#comparing?.stop();
    this.#engine.stop();
  }
}
