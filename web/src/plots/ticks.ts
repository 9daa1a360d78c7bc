// Round positions for marks on an axis.

/** Multiples of 1, 2 or 5 times a power of ten between `low` and `high`, at most `most` of them. */
export function ticks(low: number, high: number, most: number): number[] {
  const span = high - low;
  if (!(span > 0) || most < 1) return [];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}
