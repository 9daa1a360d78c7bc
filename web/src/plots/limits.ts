// Colours of limits, and the shares of time that each limit held.
import type { Band } from "../session/bands";

interface Look {
  light: string;
  dark: string;
}

const LOOKS: Record<string, Look> = {
  bottleneck: { light: "#4fae8a", dark: "#2b9a72" },
  window: { light: "#7fbde6", dark: "#3f8fc4" },
  loss: { light: "#e08a52", dark: "#cf6a2c" },
  penalty: { light: "#cf8fb8", dark: "#b0679a" },
  head_of_line: { light: "#d65a52", dark: "#d2574f" },
  receive_window: { light: "#e5b53a", dark: "#c2951d" },
  send_buffer: { light: "#b99a5a", dark: "#94763a" },
  scheduler: { light: "#7a8fd0", dark: "#5b72bb" },
  pacing: { light: "#a9d3c4", dark: "#47786a" },
  local_queue: { light: "#b5a79a", dark: "#786a5d" },
  application: { light: "#c9ced6", dark: "#4a535f" },
  joining: { light: "#dfe3e9", dark: "#3d4651" },
  closed: { light: "#e9ecf0", dark: "#2a323b" },
  idle: { light: "#f1f3f6", dark: "#242b33" },
};

export function limitColour(word: string, dark: boolean): string {
  const look = LOOKS[word] ?? { light: "#b8bec8", dark: "#59626e" };
  return dark ? look.dark : look.light;
}

/** The bands of subflows that followed each other on one path; from its start on, a newer subflow replaces older ones. */
export function merged(lanes: (readonly Band[])[]): readonly Band[] {
  const ordered = lanes.filter((bands) => bands.length > 0).sort((a, b) => (a[0]?.from ?? 0) - (b[0]?.from ?? 0));
  return ordered.flatMap((bands, at) => {
    const end = ordered[at + 1]?.[0]?.from ?? Infinity;
    return bands.filter((band) => band.from < end);
  });
}

/** Share of the time in `[from, to]` by limit, the largest first. */
export function shares(bands: readonly Band[], from: number, to: number): { word: string; share: number }[] {
  const sums = new Map<string, number>();
  bands.forEach((band, at) => {
    const end = Math.min(to, bands[at + 1]?.from ?? to);
    const start = Math.max(from, band.from);
    if (end > start) sums.set(band.word, (sums.get(band.word) ?? 0) + end - start);
  });
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0);
  return [...sums]
    .map(([word, sum]) => ({ word, share: total > 0 ? sum / total : 0 }))
    .sort((a, b) => b.share - a.share);
}
