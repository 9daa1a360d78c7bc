// The part of the run that all plots show, and which plots are open.
import type { PlotId } from "./series";

export type PanelId = PlotId | "limits" | "sequence" | "messages";

export const PANELS: { id: PanelId; name: string }[] = [
  { id: "goodput", name: "Goodput" },
  { id: "throughput", name: "Throughput" },
  { id: "cwnd", name: "Windows" },
  { id: "rtt", name: "RTT" },
  { id: "queue", name: "Queues" },
  { id: "buffers", name: "Buffers" },
  { id: "limits", name: "Limits" },
  { id: "sequence", name: "Time-sequence" },
  { id: "messages", name: "Messages" },
];

export const DEFAULT_PANELS: PanelId[] = ["goodput", "limits", "cwnd", "rtt"];

export class PlotView {
  open = $state.raw<PanelId[]>(DEFAULT_PANELS);
  /** Seconds before the present; null shows the complete run. */
  span = $state<number | null>(null);
  /** A part that the reader selected by dragging, s. */
  zoom = $state.raw<[number, number] | null>(null);
  flow = $state(0);

  toggle(id: PanelId): void {
    this.open = this.open.includes(id) ? this.open.filter((other) => other !== id) : [...this.open, id];
  }

  range(time: number, duration: number): [number, number] {
    if (this.zoom) return this.zoom;
    if (this.span !== null) return [Math.max(0, time - this.span), Math.max(time, this.span)];
    return [0, Math.max(duration, time, 1e-3)];
  }
}
