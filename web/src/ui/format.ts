// Numbers as words: rates, sizes, times and shares with the units of the documentation.

/** At most three significant digits, without trailing zeros. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  const places = Math.min(6, Math.max(0, 2 - magnitude));
  const text = value.toFixed(places);
  return places > 0 ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value: number, steps: [number, string][]): string {
  if (!Number.isFinite(value)) return "–";
  // The comparison is with the rounded value, so that 999.9 kB becomes 1 MB.
  for (const [size, unit] of steps) {
    if (Math.abs(value) >= size * 0.9995) return `${digits(value / size)} ${unit}`;
  }
  const last = steps[steps.length - 1];
  return last ? `${digits(value / last[0])} ${last[1]}` : digits(value);
}

export function rateText(bits: number): string {
  return scaled(bits, [
    [1e9, "Gb/s"],
    [1e6, "Mb/s"],
    [1e3, "kb/s"],
    [1, "b/s"],
  ]);
}

/** A rate in Mb/s with two decimals, for numbers that change quickly and must not jump between units. */
export function megabits(bits: number): string {
  return Number.isFinite(bits) ? `${(bits / 1e6).toFixed(bits >= 99.95e6 ? 0 : bits >= 9.995e6 ? 1 : 2)} Mb/s` : "–";
}

export function sizeText(bytes: number): string {
  return scaled(bytes, [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
    [1, "B"],
  ]);
}

export function timeText(seconds: number): string {
  return scaled(seconds, [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
  ]);
}

export function shareText(share: number): string {
  return `${digits(share * 100)}%`;
}

/** The time of a run: three decimals below a minute, so that slow motion moves. */
export function clockText(seconds: number, decimals = 3): string {
  if (!Number.isFinite(seconds)) return "–";
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(decimals);
  return minutes > 0 ? `${minutes}:${rest.padStart(decimals > 0 ? 3 + decimals : 2, "0")}` : `${rest} s`;
}
