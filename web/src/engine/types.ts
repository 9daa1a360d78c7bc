// The interface between the page and its source: the simulator in a worker, or real connections over a WebSocket.
//
// Owns the types of messages. Times are seconds of the shown run, rates bit/s, sizes bytes, probabilities 0 to 1.

/** An error in a scenario. Lines and columns count from 1; both are null if the error has no place. */
export interface Problem {
  message: string;
  line: number | null;
  column: number | null;
}

/** One direction of a link, as the scenario describes it. */
export interface DirectionInfo {
  /** bit/s; null if unlimited or unknown (a station of a WiFi cell). */
  rate: number | null;
  delay: number;
  loss: number;
  /** Limit of the queue; both null if unlimited. */
  queueFrames: number | null;
  queueBytes: number | null;
  /** Name of the queue discipline; null for drop-tail. */
  discipline: string | null;
}

export interface LinkInfo {
  name: string;
  kind: "link" | "station";
  /** Names of two nodes. `forward` goes from the first to the second. */
  ends: [string, string];
  /** The WiFi cell of a station. */
  cell: string | null;
  /** Whether a recording sets the rate, so that no slider can. */
  recorded: boolean;
  /** Distance of a station from its access point, m. */
  distance: number | null;
  forward: DirectionInfo;
  backward: DirectionInfo;
}

export interface FlowInfo {
  name: string;
  transport: "mptcp" | "tcp" | "udp";
  from: string;
  to: string;
  /** The node that sends the data. */
  sender: string;
  /** Links of the opening host that the flow may use. */
  paths: string[];
  scheduler: string;
  congestion: string;
  /** Opportunistic retransmission. */
  m1: boolean;
  /** Penalisation. */
  m2: boolean;
  start: number;
  stop: number | null;
}

export interface MiddleboxInfo {
  name: string;
  kind: string;
  link: string;
  on: boolean;
}

/** A network and its flows. Indices in frames refer to these arrays. */
export interface Description {
  name: string;
  description: string;
  duration: number;
  sample: number;
  warmup: number;
  nodes: { name: string; kind: "host" | "router" | "access point" }[];
  links: LinkInfo[];
  flows: FlowInfo[];
  middleboxes: MiddleboxInfo[];
  /** WiFi cells. */
  cells: { name: string; accessPoint: string }[];
  /** Names of the column `path` of samples and events: the links, then numbered subflows such as `wifi#2`. */
  paths: string[];
  /** Names of the column `host` of events. */
  hosts: string[];
  /** Names and units of the column `metric` of samples. */
  metrics: { name: string; unit: string }[];
}

/** Columns of equal length. An index equal to the number of flows (paths) means none (all). */
export interface Samples {
  time: Float64Array;
  flow: Uint16Array;
  path: Uint16Array;
  metric: Uint8Array;
  value: Float64Array;
}

/** Columns of equal length; see docs/events.md. 65535 means none. */
export interface Events {
  time: Float64Array;
  host: Uint16Array;
  flow: Uint16Array;
  path: Uint16Array;
  subflow: Uint16Array;
  other: Uint16Array;
  /** Indices into `words`. */
  kind: Uint8Array;
  what: Uint8Array;
  /** Three numbers; NaN if missing. */
  numbers: [Float64Array, Float64Array, Float64Array];
  words: string[];
}

/** A subflow of the sending host now. */
export interface SubflowView {
  path: number;
  cwnd: number;
  ssthresh: number | null;
  inFlight: number;
  srtt: number | null;
  minRtt: number | null;
  backup: boolean;
  /** Why the subflow sends nothing, by the names of docs/events.md ("window", "receive_window", ...); null if it sends. */
  limit: string | null;
}

export interface FlowView {
  written: number;
  received: number;
  /** Written but not acknowledged at the data level. */
  sendQueue: number;
  peerWindow: number;
  outOfOrder: number;
  receiveBuffer: number;
  finished: boolean;
  /** Whether the connection uses Multipath TCP now (false: plain TCP, or fallen back, or not connected). */
  multipath: boolean;
  fellBack: string | null;
  subflows: SubflowView[];
}

/** Values of one direction of a link in `Frame.directions`, in this order. */
export const DIRECTION_FIELDS = [
  "queuedBytes",
  "queuedFrames",
  "rate", // NaN: unlimited or unknown
  "delay",
  "loss",
  "up", // 0 or 1
  "queueDrops", // cumulative frames
  "randomLosses", // cumulative frames
  "sentBytes", // cumulative
] as const;
export type DirectionField = (typeof DIRECTION_FIELDS)[number];
export const DIRECTION_STRIDE = DIRECTION_FIELDS.length;

/** Values of one packet in `Frame.packets`, in this order. */
export const PACKET_FIELDS = [
  "link", // index
  "direction", // 0 forward, 1 backward
  "place", // 0 to 1: part of the propagation delay that has passed; -1: being sent; -2, -3, ...: waiting in the queue
  "kind", // PACKET_KINDS
  "flow", // index; 65535: unknown (traffic of others)
  "subflow", // number of the subflow; 65535: none
] as const;
export const PACKET_STRIDE = PACKET_FIELDS.length;
export const PACKET_KINDS = ["data", "acknowledgement", "again", "control", "datagram"] as const;
// "again" is data that another subflow had sent before (reinjection) or a retransmission; "control" has SYN, FIN or RST.

/** What the page shows at one moment. */
export interface Frame {
  time: number;
  finished: boolean;
  /** Times per second of this run that the page asks for and reaches; 0 while paused. */
  speed: number;
  /** By link and direction (index 2 x link + direction): DIRECTION_STRIDE values each. */
  directions: Float64Array;
  /** PACKET_STRIDE values each; at most a few hundred packets, the others are counted in `directions` only. Empty for live connections. */
  packets: Float32Array;
  flows: FlowView[];
  /** Rows since the last frame; if `restarted`, all rows since the start. */
  samples: Samples;
  events: Events;
  /** True if the run was started anew (loaded, or time went back): forget earlier rows. */
  restarted: boolean;
  /** By flow: sentences of `mptcplab why` about what limits it. */
  reasons: string[][];
}

/** A segment at one of the hosts, for the sequence diagram. */
export interface SegmentView {
  /** The same number at the sender and at the receiver. */
  id: number;
  time: number;
  host: number;
  path: number;
  flow: number;
  sent: boolean;
  /** For example "SYN, ACK". */
  flags: string;
  seq: number;
  ack: number;
  length: number;
  window: number;
  /** Each TCP option in words: name, and its decoded fields. */
  options: { name: string; fields: { name: string; value: string; help: string }[] }[];
}

/** A change by the page. The source writes it into the scenario as TOML, at the present time of the run. */
export type Action =
  | {
      kind: "link";
      link: string;
      direction?: "forward" | "backward";
      set: { up?: boolean; rate?: number; delay?: number; loss?: number; queueFrames?: number; distance?: number };
      /** How a link goes down or comes up; default "admin" (the host notices), "blackhole" (it does not). */
      how?: "admin" | "blackhole" | "endpoint" | "route";
    }
  | { kind: "addPath"; name: string; rate: number; rtt: number; loss: number; queueFrames: number }
  | { kind: "addFlow"; name: string; transport: "tcp" | "udp" | "mptcp"; paths: string[]; rate?: number }
  | { kind: "addMiddlebox"; name: string; box: string; link: string }
  | { kind: "switch"; middlebox: string; on: boolean }
  | { kind: "policy"; flow: string; scheduler?: string; congestion?: string; rcvbuf?: number; m1?: boolean; m2?: boolean }
  | { kind: "stopFlow"; flow: string };

/** Goodput over time of plain TCP over one path, to compare a flow with. */
export interface Ghost {
  flow: string;
  path: string;
  time: Float64Array;
  goodput: Float64Array;
  /** Mean after the warm-up, bit/s. */
  mean: number;
}

export interface Loaded {
  toml: string;
  description: Description;
}

/** What the page shows. All calls are answered in order; `onFrame` is called at most once per animation frame. */
export interface Source {
  readonly kind: "simulator" | "live";
  /** Capabilities: the page hides what a source cannot do. */
  readonly can: { seek: boolean; edit: boolean; speed: boolean; segments: boolean; capture: boolean };
  onFrame: (frame: Frame) => void;
  /** The scenario changed: by `load`, `act`, `edit`, or from outside (live). */
  onLoaded: (loaded: Loaded) => void;
  onGhosts: (ghosts: Ghost[]) => void;
  /** The run ended by itself with an error, or the connection was lost. */
  onFailure: (message: string) => void;
  /** Loads a scenario and stays at time 0 (paused). Rejects with a Problem. */
  load(toml: string, seed: number): Promise<void>;
  /** Replaces the text and continues at the present time: by a change of the running network if possible, else by a replay. */
  edit(toml: string): Promise<void>;
  act(action: Action): Promise<void>;
  /** Virtual seconds per second; Infinity: as fast as possible; 0: pause. */
  setSpeed(speed: number): void;
  /** Goes to a time, back by replay. */
  seek(time: number): Promise<void>;
  /** Processes one event of the simulator while paused. */
  step(): Promise<void>;
  /** The first segments of the run (at most 400), decoded. */
  segments(): Promise<SegmentView[]>;
  /** A pcapng file of all interfaces from the start until now. */
  capture(): Promise<Uint8Array>;
  /** The samples from the start until now, as CSV. */
  csv(): Promise<string>;
  close(): void;
}

/** Completion and help for the editor. */
export interface Knowledge {
  /** JSON Schema of scenario files. */
  schema: object;
  schedulers: { name: string; description: string }[];
  congestion: { name: string; description: string }[];
  middleboxes: { name: string; description: string }[];
}
