// Draws the time-sequence plot from the ring of sent segments.
import { SENT } from "../session/history";
import type { Ring } from "../session/ring";
import { sizeText } from "../ui/format";
import type { Colours } from "../ui/palette";
import { ticks } from "./ticks";

export interface SequenceFrame {
  from: number;
  to: number;
  low: number;
  high: number;
  left: number;
  right: number;
  x: (time: number) => number;
  y: (offset: number) => number;
}

const LEFT = 62;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 24;
/** New segments beyond this number are thinned; copies are always drawn. */
const MOST = 12_000;

/** The scales of the visible part: its times, and the offsets sent in them. */
export function frameOf(
  sent: Ring,
  flow: number,
  from: number,
  to: number,
  width: number,
  height: number,
): SequenceFrame {
  let low = Infinity;
  let high = -Infinity;
  for (let row = sent.lowerBound(from); row < sent.length && sent.at(row, SENT.time) <= to; row += 1) {
    if (sent.at(row, SENT.flow) !== flow) continue;
    const offset = sent.at(row, SENT.offset);
    low = Math.min(low, offset);
    high = Math.max(high, offset + sent.at(row, SENT.bytes));
  }
  if (low > high) [low, high] = [0, 1];
  const [left, right] = [LEFT, width - RIGHT];
  return {
    from,
    to,
    low,
    high,
    left,
    right,
    x: (time) => left + ((time - from) / (to - from || 1)) * (right - left),
    y: (offset) => height - BOTTOM - ((offset - low) / (high - low || 1)) * (height - BOTTOM - TOP),
  };
}

export function drawSequence(
  context: CanvasRenderingContext2D,
  sent: Ring,
  flow: number,
  frame: SequenceFrame,
  colour: (path: number) => string,
  colours: Colours,
): void {
  drawAxes(context, frame, colours);
  const first = sent.lowerBound(frame.from);
  let end = first;
  while (end < sent.length && sent.at(end, SENT.time) <= frame.to) end += 1;
  const stride = Math.max(1, Math.ceil((end - first) / MOST));
  for (let row = first; row < end; row += 1) {
    if (sent.at(row, SENT.flow) !== flow) continue;
    const kind = sent.at(row, SENT.kind);
    if (kind === 0 && row % stride !== 0) continue;
    const x = frame.x(sent.at(row, SENT.time));
    const y = frame.y(sent.at(row, SENT.offset));
    const rise = Math.max(1.5, y - frame.y(sent.at(row, SENT.offset) + sent.at(row, SENT.bytes)));
    context.fillStyle = colour(sent.at(row, SENT.path));
    if (kind === 0) {
      context.fillRect(x - 0.75, y - rise, 1.8, rise);
    } else {
      context.strokeStyle = context.fillStyle;
      context.lineWidth = 1.6;
      context.beginPath();
      if (kind === 1) {
        context.moveTo(x, y - 5);
        context.lineTo(x + 5, y);
        context.lineTo(x, y + 5);
        context.lineTo(x - 5, y);
        context.closePath();
      } else {
        context.moveTo(x - 3.5, y - 3.5);
        context.lineTo(x + 3.5, y + 3.5);
        context.moveTo(x - 3.5, y + 3.5);
        context.lineTo(x + 3.5, y - 3.5);
      }
      context.stroke();
    }
  }
}

function drawAxes(context: CanvasRenderingContext2D, frame: SequenceFrame, colours: Colours): void {
  context.font = '11.5px system-ui, "Segoe UI", sans-serif';
  context.fillStyle = colours.muted;
  context.strokeStyle = colours.faint;
  context.lineWidth = 1;
  const bottom = frame.y(frame.low);
  for (const offset of ticks(frame.low, frame.high, 5)) {
    const y = frame.y(offset);
    context.beginPath();
    context.moveTo(frame.left, y);
    context.lineTo(frame.right, y);
    context.stroke();
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(sizeText(offset), frame.left - 6, y);
  }
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const time of ticks(frame.from, frame.to, Math.max(2, (frame.right - frame.left) / 90))) {
    context.fillText(`${time} s`, Math.min(frame.x(time), frame.right - 12), bottom + 7);
  }
}
