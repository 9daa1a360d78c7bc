// Places of arrows in the sequence diagram: times in order, with a minimum distance so that labels stay readable.
import type { SegmentView } from "../engine/types";

export interface Arrow {
  id: number;
  sent: SegmentView;
  received: SegmentView | null;
  /** Heights of both ends, px. Equal if the segment never arrived. */
  from: number;
  to: number;
}

export interface Diagram {
  arrows: Arrow[];
  height: number;
  /** Times for the margin, at most one per label height. */
  times: { y: number; time: number }[];
}

const SENT_GAP = 19;
const RECEIVED_GAP = 5;
/** An arrow that never arrives ends here, below its start. */
const LOST_DROP = 14;

export function diagramOf(segments: SegmentView[], flow: number | null): Diagram {
  const wanted = segments.filter((segment) => flow === null || segment.flow === flow);
  const ordered = [...wanted].sort((a, b) => a.time - b.time);
  const heights = new Map<SegmentView, number>();
  const times: Diagram["times"] = [];
  let y = 14;
  let before: SegmentView | null = null;
  for (const segment of ordered) {
    if (before) {
      const pause = segment.time - before.time;
      const extra = pause > 0 ? Math.min(26, 3 * Math.log10(1 + pause * 1e5)) : 0;
      y += (segment.sent ? SENT_GAP : RECEIVED_GAP) + extra;
    }
    heights.set(segment, y);
    const last = times[times.length - 1];
    if (!last || y - last.y >= 16) times.push({ y, time: segment.time });
    before = segment;
  }
  const received = new Map<number, SegmentView>();
  for (const segment of ordered) if (!segment.sent && !received.has(segment.id)) received.set(segment.id, segment);
  const arrows = ordered.flatMap((sent): Arrow[] => {
    if (!sent.sent) return [];
    const other = received.get(sent.id) ?? null;
    const from = heights.get(sent) ?? 0;
    const to = other ? (heights.get(other) ?? from) : from + LOST_DROP;
    return [{ id: sent.id, sent, received: other, from, to }];
  });
  return { arrows, height: y + 26, times };
}

/** "SYN, MP_CAPABLE" or "1400 bytes, DSS". */
export function labelOf(segment: SegmentView): string {
  const parts: string[] = [];
  const flags = segment.flags.replace(/^ACK$/, segment.length > 0 ? "" : "ACK");
  if (flags) parts.push(flags);
  if (segment.length > 0) parts.push(`${segment.length} bytes`);
  const shown = segment.options.map((option) => option.name).filter((name) => /^(MP_|ADD_ADDR|REMOVE_ADDR|DSS)/i.test(name));
  if (shown.length > 0) parts.push(shown.join(" "));
  return parts.join(" · ");
}
