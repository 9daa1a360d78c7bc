// Marks of losses, timeouts and penalties above the curves of the congestion windows.
import type uPlot from "uplot";
import { MARK, MARK_KINDS, type History } from "../session/history";

/** More marks than this are thinned. */
const MOST = 600;
const SYMBOLS: Record<(typeof MARK_KINDS)[number], string> = { loss: "×", timeout: "T", penalty: "M2" };

export const MARK_LEGEND = "× loss, T timeout, M2 penalisation";

export function drawMarks(plot: uPlot, history: History, flow: number, colour: (path: number) => string): void {
  const { marks } = history;
  const { min, max } = plot.scales.x ?? {};
  if (min === undefined || min === null || max === undefined || max === null) return;
  const { ctx, bbox } = plot;
  const first = marks.lowerBound(min);
  let end = first;
  while (end < marks.length && marks.at(end, MARK.time) <= max) end += 1;
  const stride = Math.max(1, Math.ceil((end - first) / MOST));
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.font = `600 ${10 * ratio}px system-ui, "Segoe UI", sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (let row = first; row < end; row += 1) {
    const kind = MARK_KINDS[marks.at(row, MARK.kind)] ?? "loss";
    if (marks.at(row, MARK.flow) !== flow || (kind === "loss" && row % stride !== 0)) continue;
    ctx.fillStyle = colour(marks.at(row, MARK.path));
    const line = kind === "loss" ? 1 : kind === "timeout" ? 12 : 23;
    ctx.fillText(SYMBOLS[kind], plot.valToPos(marks.at(row, MARK.time), "x", true), bbox.top + line * ratio);
  }
  ctx.restore();
}
