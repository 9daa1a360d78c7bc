// Real connections as a source: a WebSocket to the `mptcplab` process that served the page.
//
// Owns the protocol. The server sends `loaded`, `frame`, `failure`, `done` and `refused`; the page sends `act`.
import type { Action, Events, Frame, Ghost, Loaded, Problem, Samples, SegmentView, Source } from "./types";

type Numbers = (number | null)[];
type Columns<T> = { [K in keyof T]: T[K] extends string[] ? string[] : Numbers };

interface WireFrame extends Omit<Frame, "directions" | "packets" | "samples" | "events"> {
  directions: Numbers;
  packets: Numbers;
  samples: Columns<Samples>;
  events: Omit<Columns<Events>, "numbers"> & { numbers: [Numbers, Numbers, Numbers] };
}

type Incoming =
  | { type: "loaded"; loaded: Loaded }
  | ({ type: "frame" } & WireFrame)
  | { type: "failure"; message: string }
  | { type: "done"; id: number }
  | { type: "refused"; id: number; problem: Problem };

const REFUSED: Problem = { message: "real connections do not allow this", line: null, column: null };
/** More frames than this do not wait for the screen. */
const MOST_WAITING = 100;
const LOST = "The connection to mptcplab was lost.";

/** The address of the socket: the same host, with the token of the page's query or fragment. */
export function socketAddress(page: { protocol: string; host: string; search: string; hash: string }): string {
  const inFragment = new URLSearchParams(page.hash.replace(/^#/, ""));
  const token = new URLSearchParams(page.search).get("token") ?? inFragment.get("token") ?? "";
  const scheme = page.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${page.host}/live?token=${encodeURIComponent(token)}`;
}

export function createLive(page: { protocol: string; host: string; search: string; hash: string }): Source {
  return new Live(new WebSocket(socketAddress(page)));
}

function floats(values: Numbers): Float64Array {
  return Float64Array.from(values, (value) => value ?? Number.NaN);
}

/** A missing index is none. */
function indices(values: Numbers): Uint16Array {
  return Uint16Array.from(values, (value) => value ?? 65535);
}

export function frameOf(wire: WireFrame): Frame {
  const { samples, events } = wire;
  return {
    time: wire.time,
    finished: wire.finished,
    speed: wire.speed,
    directions: floats(wire.directions),
    packets: Float32Array.from(wire.packets, (value) => value ?? Number.NaN),
    flows: wire.flows,
    samples: {
      time: floats(samples.time),
      flow: indices(samples.flow),
      path: indices(samples.path),
      metric: Uint8Array.from(samples.metric, (value) => value ?? 0),
      value: floats(samples.value),
    },
    events: {
      time: floats(events.time),
      host: indices(events.host),
      flow: indices(events.flow),
      path: indices(events.path),
      subflow: indices(events.subflow),
      other: indices(events.other),
      kind: Uint8Array.from(events.kind, (value) => value ?? 0),
      what: Uint8Array.from(events.what, (value) => value ?? 0),
      numbers: [floats(events.numbers[0]), floats(events.numbers[1]), floats(events.numbers[2])],
      words: events.words,
    },
    restarted: wire.restarted,
    reasons: wire.reasons,
  };
}

class Live implements Source {
  readonly kind = "live";
  readonly can = { seek: false, edit: false, speed: false, segments: false, capture: false };
  onFrame: (frame: Frame) => void = () => {};
  onLoaded: (loaded: Loaded) => void = () => {};
  onGhosts: (ghosts: Ghost[]) => void = () => {};
  onFailure: (message: string) => void = () => {};
  private readonly waiting = new Map<number, { resolve: () => void; reject: (problem: Problem) => void }>();
  private nextId = 1;
  private closed = false;
  /** Whether the last frame said that the run has ended; the server then closes the connection. */
  private finished = false;
  /** Messages that arrive while a frame waits for the screen are kept in order. */
  private readonly frames: Frame[] = [];
  private scheduled = false;

  constructor(private readonly socket: WebSocket) {
    socket.onmessage = (message) => {
      try {
        this.receive(JSON.parse(String(message.data)) as Incoming);
      } catch (error) {
        socket.close();
        this.onFailure(`mptcplab sent a message that the page does not understand: ${String(error)}`);
      }
    };
    socket.onclose = () => this.lost();
    document.addEventListener("visibilitychange", this.hide);
  }

  load(): Promise<void> {
    return Promise.reject(REFUSED);
  }

  edit(): Promise<void> {
    return Promise.reject(REFUSED);
  }

  act(action: Action): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject<void>({ ...REFUSED, message: LOST });
    }
    const id = this.nextId;
    this.nextId += 1;
    this.socket.send(JSON.stringify({ type: "act", id, action }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  setSpeed(): void {
    // Real time cannot be set.
  }

  seek(): Promise<void> {
    return Promise.reject(REFUSED);
  }

  step(): Promise<void> {
    return Promise.reject(REFUSED);
  }

  segments(): Promise<SegmentView[]> {
    return Promise.resolve([]);
  }

  capture(): Promise<Uint8Array> {
    return Promise.reject(REFUSED);
  }

  csv(): Promise<string> {
    return Promise.reject(REFUSED);
  }

  close(): void {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.hide);
    this.socket.close();
  }

  private receive(message: Incoming): void {
    switch (message.type) {
      case "loaded":
        this.deliver();
        this.onLoaded(message.loaded);
        break;
      case "frame":
        this.finished = message.finished;
        this.frames.push(frameOf(message));
        if (this.frames.length > MOST_WAITING) this.deliver();
        else this.schedule();
        break;
      case "failure":
        this.onFailure(message.message);
        break;
      case "done":
        this.waiting.get(message.id)?.resolve();
        this.waiting.delete(message.id);
        break;
      case "refused":
        this.waiting.get(message.id)?.reject(message.problem);
        this.waiting.delete(message.id);
        break;
    }
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // Hidden pages get no animation frames; a timer keeps their memory bounded.
    if (document.hidden) setTimeout(() => this.deliver(), 100);
    else requestAnimationFrame(() => this.deliver());
  }

  /** An animation frame that was scheduled before the page hides never comes. */
  private readonly hide = (): void => {
    if (document.hidden) this.deliver();
  };

  private deliver(): void {
    this.scheduled = false;
    for (const frame of this.frames.splice(0)) this.onFrame(frame);
  }

  private lost(): void {
    for (const call of this.waiting.values()) call.reject({ ...REFUSED, message: LOST });
    this.waiting.clear();
    if (!this.closed && !this.finished) this.onFailure(LOST);
  }
}
