// Events and limits in words.
import type { Description } from "../engine/types";
import type { Notable } from "./history";

/** The limits of a subflow: a short name, and a sentence for tooltips. */
export const LIMITS: Record<string, { name: string; help: string }> = {
  bottleneck: { name: "path capacity", help: "The window is full and a queue stands: the path is fully used." },
  window: { name: "congestion window", help: "The congestion window is full, although the path could carry more." },
  loss: { name: "loss", help: "The subflow recovers from a loss, or losses keep its window small." },
  penalty: { name: "penalisation (M2)", help: "Penalisation halved the congestion window." },
  head_of_line: { name: "head-of-line blocking", help: "A buffer is full, and its oldest data is on another path." },
  receive_window: { name: "receive window", help: "The receive window is full, and its oldest data is on this path." },
  send_buffer: { name: "send buffer", help: "The send buffer is full, and its oldest data is on this path." },
  scheduler: { name: "scheduler", help: "The scheduler, or the backup flag, leaves this path unused." },
  application: { name: "application", help: "All written data has been sent." },
  pacing: { name: "pacing", help: "The subflow waits for its pacing timer." },
  local_queue: { name: "local queue", help: "The queue of the sending host holds the maximum for this subflow." },
  joining: { name: "handshake", help: "The handshake of the subflow is not complete." },
  closed: { name: "no subflow", help: "The subflow has ended." },
  idle: { name: "idle", help: "The connection is not open, or all data is acknowledged." },
};

export function limitName(word: string): string {
  return LIMITS[word]?.name ?? word.replace(/_/g, " ");
}

export function notableText(event: Notable, description: Description): string | null {
  const flow = description.flows[event.flow]?.name ?? "a flow";
  const path = description.paths[event.path] ?? "a path";
  switch (event.kind) {
    case "subflow":
      if (event.what === "established") return `${flow}: subflow on ${path} established.`;
      if (event.what === "closed") return `${flow}: subflow on ${path} closed.`;
      return null;
    case "connection":
      return event.what ? `${flow}: connection ${event.what.replace(/_/g, " ")}.` : null;
    case "timeout":
      return `${flow}: retransmission timeout on ${path}.`;
    default:
      return null;
  }
}
