// Places of the labels of links: near the middle of their line, where they cover neither queues nor nodes.
import { queueBox } from "./drawing";
import { pointOn, type Layout, type LinkLine, type Point } from "./layout";

export interface Label extends Point {
  /** Whether the values fit, next to the name. */
  values: boolean;
  /** px */
  width: number;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Estimated widths of a bold letter of a name and of a letter of the values, px. */
const NAME_LETTER = 7.4;
const VALUE_LETTER = 6.6;
const PADDING = 10;
/** With a little space above and below the text, px. */
const HEIGHT = 21;
/** Distance of a label from its line, px. */
const OFFSET = 29;
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];
/** Distance between the points of lines that labels avoid, px. */
const STEP = 6;

function boxAround({ x, y }: Point, width: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - HEIGHT / 2, bottom: y + HEIGHT / 2 };
}

function holds(box: Box, { x, y }: Point): boolean {
  return x > box.left && x < box.right && y > box.top && y < box.bottom;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Points on the long edges of both queues of a link. */
function edgesOf(line: LinkLine): Point[] {
  return [0, 1].flatMap((direction) => {
    const { from, to, offset, width } = queueBox(line, direction);
    const count = Math.max(1, Math.ceil((Math.abs(to - from) * line.length) / STEP));
    return Array.from({ length: count + 1 }, (_, at) => from + ((to - from) * at) / count).flatMap((share) =>
      [-width / 2, 0, width / 2].map((aside) => pointOn(line, share, offset + aside)),
    );
  });
}

/** The label of each link. Lines may be covered if there is no better place; `values` are the texts after the names. */
export function labelsOf(layout: Layout, values: string[]): Label[] {
  const queues = layout.dense ? [] : layout.links.flatMap(edgesOf);
  const nodes = layout.nodes.map(({ x, y, width, height }): Box => ({
    left: x - width / 2,
    right: x + width / 2,
    top: y - height / 2,
    bottom: y + height / 2,
  }));
  const lines = layout.links.flatMap((line) => {
    const count = Math.ceil(line.length / STEP);
    return Array.from({ length: count + 1 }, (_, at) => pointOn(line, at / Math.max(1, count), 0));
  });
  const taken: Box[] = [];
  return layout.links.map((line, link): Label => {
    if (!line.labelled) return { ...pointOn(line, 0.5, layout.dense ? 0 : OFFSET), values: false, width: 24 };
    const most = Math.max(60, line.length * 0.96);
    const short = Math.min(most, NAME_LETTER * line.name.length + PADDING);
    const long = short + VALUE_LETTER * (values[link]?.length ?? 0) + 4;
    const best = (width: number) => {
      let found: { at: Point; hard: number; cost: number } | null = null;
      for (const side of [OFFSET, -OFFSET]) {
        for (const share of SHARES) {
          const at = pointOn(line, share, side);
          const box = boxAround(at, width);
          const boxes = [...nodes, ...taken].filter((other) => overlap(box, other)).length;
          const hard = 10 * boxes + queues.filter((point) => holds(box, point)).length;
          const soft = lines.filter((point) => holds(box, point)).length + 4 * Math.abs(share - 0.5) + (side > 0 ? 0 : 1);
          const cost = 3 * hard + soft;
          if (!found || cost < found.cost) found = { at, hard, cost };
        }
      }
      return found;
    };
    const roomy = values[link] && long <= most ? best(long) : null;
    const chosen = roomy && roomy.hard === 0 ? roomy : best(short);
    const width = chosen === roomy ? long : short;
    const at = chosen?.at ?? pointOn(line, 0.5, OFFSET);
    taken.push(boxAround(at, width));
    return { ...at, values: chosen === roomy, width };
  });
}
