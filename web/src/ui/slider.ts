// Scales of sliders: linear, or logarithmic with an optional zero at the left end.

export interface Scale {
  low: number;
  high: number;
  linear: boolean;
  /** Whether the left end of a logarithmic scale is zero instead of `low`. */
  zero: boolean;
}

export const POSITIONS = 200;

export function toPosition(scale: Scale, value: number): number {
  const { low, high, linear, zero } = scale;
  if (linear) return clamp(((value - low) / (high - low)) * POSITIONS);
  if (zero && value <= 0) return 0;
  const share = Math.log(Math.max(value, low) / low) / Math.log(high / low);
  return clamp(zero ? 1 + share * (POSITIONS - 1) : share * POSITIONS);
}

/** The value at a position, rounded to two significant digits. */
export function fromPosition(scale: Scale, position: number): number {
  const { low, high, linear, zero } = scale;
  if (linear) return Number((low + (position / POSITIONS) * (high - low)).toPrecision(3));
  if (zero && position <= 0) return 0;
  const share = zero ? (position - 1) / (POSITIONS - 1) : position / POSITIONS;
  return Number((low * (high / low) ** share).toPrecision(2));
}

function clamp(position: number): number {
  return Number.isFinite(position) ? Math.min(POSITIONS, Math.max(0, position)) : 0;
}
