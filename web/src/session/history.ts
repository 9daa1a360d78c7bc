// The memory of a run: samples, limits, sent segments and remarkable events, all of them bounded.
import type { Description, Events, Frame, Samples } from "../engine/types";
import { Bands } from "./bands";
import { Ring } from "./ring";
import { SampleTable } from "./table";

export const NONE = 65535;
export const SENT_KINDS = ["schedule", "reinjection", "retransmission"] as const;
/** Columns of `History.sent`. */
export const SENT = { time: 0, offset: 1, bytes: 2, flow: 3, path: 4, kind: 5 } as const;
/** Columns of `History.marks`. */
export const MARK = { time: 0, flow: 1, path: 2, kind: 3 } as const;
export const MARK_KINDS = ["loss", "timeout", "penalty"] as const;

export interface Notable {
  time: number;
  kind: string;
  what: string;
  flow: number;
  path: number;
}

export class History {
  readonly samples = new SampleTable();
  readonly limits = new Bands();
  readonly sent = new Ring(120_000, 6);
  readonly marks = new Ring(8_000, 4);
  /** Number of events of each kind since the start. */
  readonly counts = new Map<string, number>();
  /** Path by flow, side and subflow. Each host numbers the subflows in its own order. */
  private readonly pathOfSubflow = new Map<number, number>();
  private flows = 0;
  private paths = 0;
  /** By flow, the index of its sending host in the column `host`. */
  private senders: number[] = [];

  reset(description: Description): void {
    this.flows = description.flows.length;
    this.paths = description.paths.length;
    this.senders = description.flows.map((flow) => description.hosts.indexOf(flow.sender));
    this.clear();
  }

  clear(): void {
    this.samples.clear();
    this.limits.clear();
    this.sent.clear();
    this.marks.clear();
    this.counts.clear();
    this.pathOfSubflow.clear();
  }

  /** Adds the rows of a frame. Returns the remarkable events among them. */
  add(frame: Frame): Notable[] {
    if (frame.restarted) this.clear();
    this.addSamples(frame.samples);
    return this.addEvents(frame.events);
  }

  /** The key of a column of `samples`. Indices outside the description mean none (all). */
  static key(flow: number, path: number, metric: number): number {
    return (flow * 4096 + path) * 64 + metric;
  }

  column(flow: number | null, path: number | null, metric: number): Float64Array | undefined {
    return this.samples.column(History.key(flow ?? this.flows, path ?? this.paths, metric));
  }

  /** The path of a subflow, by the number that one of the hosts gave it. */
  pathOf(flow: number, bySender: boolean, subflow: number): number | undefined {
    return this.pathOfSubflow.get(subflowKey(flow, bySender, subflow));
  }

  private addSamples(samples: Samples): void {
    const { time, flow, path, metric, value } = samples;
    for (let row = 0; row < time.length; row += 1) {
      const key = History.key(flow[row] ?? 0, path[row] ?? 0, metric[row] ?? 0);
      this.samples.add(time[row] ?? 0, key, value[row] ?? Number.NaN);
    }
    if (time.length > 0) this.samples.endBatch();
  }

  private addEvents(events: Events): Notable[] {
    const fresh: Notable[] = [];
    const { words } = events;
    for (let row = 0; row < events.time.length; row += 1) {
      const kind = words[events.kind[row] ?? 0] ?? "";
      const time = events.time[row] ?? 0;
      const flow = events.flow[row] ?? NONE;
      const path = events.path[row] ?? NONE;
      const subflow = events.subflow[row] ?? NONE;
      this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
      const bySender = (events.host[row] ?? NONE) === this.senders[flow];
      if (flow !== NONE && path !== NONE && subflow !== NONE) {
        this.pathOfSubflow.set(subflowKey(flow, bySender, subflow), path);
      }
      const what = words[events.what[row] ?? 0] ?? "";
      // The receiver of a bulk flow has limits too, but nothing to send.
      if (!bySender) continue;
      const sent = SENT_KINDS.indexOf(kind as (typeof SENT_KINDS)[number]);
      if (sent >= 0) {
        this.sent.push(time, events.numbers[0][row] ?? 0, events.numbers[1][row] ?? 0, flow, path, sent);
      } else if (kind === "subflow_blocked") {
        this.limits.add(`${flow}/${path}/${subflow}`, time, what);
      }
      const mark = MARK_KINDS.indexOf(kind as (typeof MARK_KINDS)[number]);
      if (mark >= 0) this.marks.push(time, flow, path, mark);
      if (isNotable(kind)) {
        fresh.push({ time, kind, what, flow, path });
      }
    }
    return fresh;
  }
}

function subflowKey(flow: number, bySender: boolean, subflow: number): number {
  return (2 * flow + (bySender ? 1 : 0)) * 65536 + subflow;
}

function isNotable(kind: string): boolean {
  return kind === "subflow" || kind === "connection" || kind === "timeout";
}
