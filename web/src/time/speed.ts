// The scale of the speed slider: logarithmic from 0.01 to 100 times real time, then as fast as possible.
import { digits } from "../ui/format";
import { TOP_SPEED } from "../session/session.svelte";

export const SLOWEST = 0.01;
/** Positions 0 to STEPS - 1 are speeds; STEPS means as fast as possible. */
export const STEPS = 81;

export function speedAt(position: number): number {
  if (position >= STEPS) return Infinity;
  return SLOWEST * (TOP_SPEED / SLOWEST) ** (position / (STEPS - 1));
}

export function positionOf(speed: number): number {
  if (speed > TOP_SPEED) return STEPS;
  return Math.round(((STEPS - 1) * Math.log(speed / SLOWEST)) / Math.log(TOP_SPEED / SLOWEST));
}

export function speedText(speed: number): string {
  return speed > TOP_SPEED ? "max" : `${digits(Number(speed.toPrecision(2)))}×`;
}
