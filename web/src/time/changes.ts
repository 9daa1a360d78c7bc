// The events of a scenario, for marks on the timeline and for settings in force.

export interface Change {
  /** s */
  time: number;
  /** For example `wifi: up = false`. */
  text: string;
  flow: string | null;
  /** The values of `set`, without quotes. */
  set: Map<string, string>;
}

const UNITS: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };

/** Reads the `[[events]]` of a scenario as the page writes them. Leaves out events that it cannot read. */
export function changesOf(toml: string): Change[] {
  const found: Change[] = [];
  const blocks = toml.split(/^\s*\[\[events\]\].*$/m).slice(1);
  for (const block of blocks) {
    const values = new Map<string, string>();
    for (const line of (block.split(/^\s*\[/m)[0] ?? "").split("\n")) {
      const [, key, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      if (key && value) values.set(key, value);
    }
    const time = secondsOf(bare(values.get("at")));
    if (time === null) continue;
    const where = ["link", "path", "station", "middlebox", "flow"].map((key) => values.get(key)).find(Boolean);
    const direction = values.has("direction") ? ` (${bare(values.get("direction"))})` : "";
    const inside = (values.get("set") ?? "").replace(/^\{\s*|\s*\}.*$/g, "");
    const set = new Map<string, string>();
    for (const [, key, value] of inside.matchAll(/([\w-]+)\s*=\s*("[^"]*"|[^,\s]+)/g)) if (key) set.set(key, bare(value));
    const words = [...set].map(([key, value]) => `${key} = ${value}`).join(", ");
    const flow = values.get("flow");
    found.push({ time, text: `${bare(where)}${direction}: ${words}`, flow: flow === undefined ? null : bare(flow), set });
  }
  return found.sort((a, b) => a.time - b.time);
}

function bare(value: string | undefined): string {
  return (value ?? "").replace(/^["'](.*?)["'].*$/, "$1");
}

function secondsOf(text: string): number | null {
  const [, number, unit] = /^([\d.]+)\s*([a-zµ]*)$/.exec(text) ?? [];
  const factor = UNITS[unit || "s"];
  return number === undefined || factor === undefined ? null : Number(number) * factor;
}

/** The value of a setting of a flow at a time: that of the last change before, or the one from the start. */
export function inForce(changes: Change[], flow: string, key: string, time: number, initial: string): string {
  const last = changes.findLast((change) => change.flow === flow && change.time <= time + 1e-9 && change.set.has(key));
  return last?.set.get(key) ?? initial;
}
