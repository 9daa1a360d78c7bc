// The open plots, for downloads as PNG.
import type uPlot from "uplot";

const open = new Map<string, { title: string; plot: uPlot }>();

export function registerPlot(id: string, title: string, plot: uPlot | null): void {
  if (plot) open.set(id, { title, plot });
  else open.delete(id);
}

export function openPlots(): { id: string; title: string; plot: uPlot }[] {
  return [...open].map(([id, entry]) => ({ id, ...entry }));
}
