// Colours of paths and flows: a palette that colour-blind readers can tell apart, in a light and a dark variant.
//
// Based on Okabe and Ito (2008). Light variants are darkened until text-size marks reach a contrast of 3:1.

export interface Colours {
  series: string[];
  unknown: string;
  ink: string;
  muted: string;
  faint: string;
  ground: string;
  panel: string;
  line: string;
  accent: string;
  alarm: string;
}

export const LIGHT: Colours = {
  series: ["#0072b2", "#c24e00", "#008562", "#b0508a", "#946200", "#2f7fb0", "#5c5c5c", "#7a3b9c"],
  unknown: "#767b85",
  ink: "#1c222b",
  muted: "#55606e",
  faint: "#d7dce3",
  ground: "#f4f6f8",
  panel: "#ffffff",
  line: "#8a94a3",
  accent: "#0b5cad",
  alarm: "#b3261e",
};

export const DARK: Colours = {
  series: ["#56b4e9", "#f2844a", "#2cc79b", "#e39ac8", "#e6b422", "#8fc7f0", "#b8bec8", "#c79be8"],
  unknown: "#8d97a5",
  ink: "#e8ecf1",
  muted: "#a5b0bd",
  faint: "#343c47",
  ground: "#12161b",
  panel: "#1a2027",
  line: "#7a8696",
  accent: "#7cb8f5",
  alarm: "#ff8a80",
};

/** Dashes that tell curves apart without colours; the first is solid. */
export const DASHES: number[][] = [[], [8, 3], [3, 3], [10, 3, 2, 3], [5, 5], [2, 2], [12, 4], [6, 2, 2, 2]];

/** Colour indices by flow and path. */
export class Hues {
  private readonly byPair = new Map<string, number>();
  private readonly byLink = new Map<string, number>();

  /** `flows` in the order of the scenario; a second flow on a path gets a colour of its own. */
  constructor(flows: { name: string; paths: string[] }[]) {
    let next = 0;
    for (const flow of flows) {
      for (const path of flow.paths) {
        this.byPair.set(`${flow.name}\n${path}`, next);
        if (!this.byLink.has(path)) this.byLink.set(path, next);
        next += 1;
      }
    }
  }

  /** The index of a path of a flow; numbered subflows (`wifi#2`) without an entry follow their link. */
  of(flow: string, path: string): number {
    const direct = this.byPair.get(`${flow}\n${path}`);
    if (direct !== undefined) return direct;
    const [link = path, number] = path.split("#");
    const base = this.byPair.get(`${flow}\n${link}`) ?? this.byLink.get(link);
    if (base === undefined) return -1;
    return number === undefined ? base : base + Number(number) - 1;
  }

  /** The index of the first flow that uses a link; -1 if it is no path of a flow. */
  link(name: string): number {
    return this.byLink.get(name) ?? -1;
  }
}

export function colourOf(colours: Colours, index: number): string {
  if (index < 0) return colours.unknown;
  return colours.series[index % colours.series.length] ?? colours.unknown;
}

export function dashOf(index: number): number[] {
  return DASHES[Math.max(0, index) % DASHES.length] ?? [];
}
