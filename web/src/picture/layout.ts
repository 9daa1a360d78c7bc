// Places of nodes and links in the picture: layers from senders to receivers, or from hosts to the core of a fabric.
import type { Description } from "../engine/types";

export interface Point {
  x: number;
  y: number;
}

export interface NodeBox {
  name: string;
  kind: Description["nodes"][number]["kind"];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface LinkLine {
  name: string;
  from: Point;
  to: Point;
  length: number;
  /** Whether a label fits. */
  labelled: boolean;
}

export interface Layout {
  nodes: NodeBox[];
  links: LinkLine[];
  cells: { name: string; x: number; y: number; rx: number; ry: number }[];
  /** True if layers are rows: large fabrics with their hosts at the bottom. */
  rows: boolean;
  /** Space between links is too small for queues and labels. */
  dense: boolean;
}

const LANE = 74;
const NARROW_LANE = 60;

/** The layer of each node by name. */
export function layersOf(description: Description): { layers: Map<string, number>; rows: boolean } {
  const neighbours = new Map<string, Set<string>>();
  for (const node of description.nodes) neighbours.set(node.name, new Set());
  for (const link of description.links) {
    neighbours.get(link.ends[0])?.add(link.ends[1]);
    neighbours.get(link.ends[1])?.add(link.ends[0]);
  }
  const openers = new Set(description.flows.map((flow) => flow.from));
  const acceptors = new Set(description.flows.map((flow) => flow.to));
  const hosts = description.nodes.filter((node) => node.kind === "host").map((node) => node.name);
  const both = [...openers].filter((name) => acceptors.has(name));
  const rows = hosts.length > 8 && both.length > 2;
  let starts = rows ? hosts : [...openers].filter((name) => !acceptors.has(name));
  if (starts.length === 0) starts = hosts.slice(0, 1);
  if (starts.length === 0) starts = description.nodes.slice(0, 1).map((node) => node.name);
  const layers = distances(starts, neighbours);
  if (!rows) {
    // Receivers share a column of their own, behind all routers.
    const receivers = [...acceptors].filter((name) => !starts.includes(name));
    const others = [...layers].filter(([name]) => !receivers.includes(name)).map(([, layer]) => layer);
    for (const name of receivers) layers.set(name, Math.max(0, ...others) + 1);
  }
  for (const node of description.nodes) if (!layers.has(node.name)) layers.set(node.name, 0);
  return { layers, rows };
}

function distances(starts: string[], neighbours: Map<string, Set<string>>): Map<string, number> {
  const found = new Map(starts.map((name) => [name, 0]));
  const queue = [...starts];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    for (const next of neighbours.get(name) ?? []) {
      if (found.has(next)) continue;
      found.set(next, (found.get(name) ?? 0) + 1);
      queue.push(next);
    }
  }
  return found;
}

/** The nodes of each layer, in an order with few crossings: each node near the mean of its neighbours. */
export function orderedLayers(description: Description, layers: Map<string, number>, rows = false): string[][] {
  const count = Math.max(0, ...layers.values()) + 1;
  const columns: string[][] = Array.from({ length: count }, () => []);
  for (const node of description.nodes) columns[layers.get(node.name) ?? 0]?.push(node.name);
  const linked = new Map<string, string[]>();
  for (const { ends } of description.links) {
    linked.set(ends[0], [...(linked.get(ends[0]) ?? []), ends[1]]);
    linked.set(ends[1], [...(linked.get(ends[1]) ?? []), ends[0]]);
  }
  // The hosts of a fabric are in the order of their pods, which the layers above follow.
  for (let round = 0; round < 6; round += 1) {
    const place = new Map<string, number>();
    columns.forEach((column) => column.forEach((name, at) => place.set(name, (at + 0.5) / column.length)));
    const forward = rows || round % 2 === 0;
    const sweep = forward ? columns : [...columns].reverse();
    sweep.forEach((column) => {
      const own = layers.get(column[0] ?? "") ?? 0;
      const mean = (name: string): number => {
        const near = (linked.get(name) ?? []).filter((other) => {
          const layer = layers.get(other) ?? 0;
          return forward ? layer < own : layer > own;
        });
        if (near.length === 0) return place.get(name) ?? 0;
        return near.reduce((sum, other) => sum + (place.get(other) ?? 0), 0) / near.length;
      };
      const means = new Map(column.map((name) => [name, mean(name)]));
      column.sort((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0));
      column.forEach((name, at) => place.set(name, (at + 0.5) / column.length));
    });
  }
  return columns;
}

/** The height that a description needs for readable links, for a given width. */
export function heightFor(description: Description, width: number): number {
  const { layers, rows } = layersOf(description);
  if (rows) return width < 600 ? 420 : 480;
  const lanes = lanesPerGap(description, layers);
  const nodes = Math.max(...orderedLayers(description, layers).map((column) => column.length));
  const most = Math.max(...lanes, nodes, 2);
  const lane = width < 600 ? NARROW_LANE : LANE;
  return Math.min(560, Math.max(width < 600 ? 220 : 270, most * lane + 70));
}

function lanesPerGap(description: Description, layers: Map<string, number>): number[] {
  const count = Math.max(0, ...layers.values()) + 1;
  const lanes: number[] = Array.from({ length: count }, () => 0);
  for (const link of description.links) {
    const gap = Math.min(layers.get(link.ends[0]) ?? 0, layers.get(link.ends[1]) ?? 0);
    lanes[gap] = (lanes[gap] ?? 0) + 1;
  }
  return lanes;
}

export function layoutOf(description: Description, width: number, height: number): Layout {
  const { layers, rows } = layersOf(description);
  const columns = orderedLayers(description, layers, rows);
  const along = rows ? height : width;
  const across = rows ? width : height;
  const narrow = width < 600;
  const largest = Math.max(1, ...columns.map((column) => column.length));
  const crowded = across / largest < 46 || description.links.length > 24;
  const thickness = rows ? 26 : crowded ? 64 : narrow ? 78 : 132;
  const margin = rows ? 24 : 10;
  const gaps = Math.max(1, columns.length - 1);
  const stretch = (along - 2 * margin - thickness) / gaps;
  const degree = degrees(description, layers);
  const nodes: NodeBox[] = [];
  columns.forEach((column, layer) => {
    const weights = column.map((name) => Math.max(1, degree.get(name) ?? 1));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let used = 0;
    column.forEach((name, at) => {
      const weight = weights[at] ?? 1;
      const space = ((across - 2 * 8) * weight) / total;
      const centre = 8 + ((across - 16) * (used + weight / 2)) / total;
      used += weight;
      const kind = description.nodes.find((node) => node.name === name)?.kind ?? "router";
      const most = kind === "host" && !rows ? space - 12 : Math.min(space - 8, (rows ? 80 : 34) + 30 * (weight - 1));
      const extent = Math.max(crowded ? 14 : 30, Math.min(most, crowded ? space - 4 : Infinity));
      const middle = margin + thickness / 2 + (rows ? gaps - layer : layer) * stretch;
      nodes.push({
        name,
        kind,
        x: rows ? centre : columns.length === 1 ? along / 2 : middle,
        y: rows ? middle : centre,
        width: rows ? Math.max(14, Math.min(extent, space - 8, 104)) : thickness,
        height: rows ? thickness : extent,
      });
    });
  });
  const links = lines(description, nodes, layers, rows);
  const dense = description.links.length > 24;
  for (const link of links) link.labelled = !dense && link.length > 60;
  return { nodes, links, cells: areas(description, nodes, links), rows, dense };
}

/** The larger number of links of a node on one of its two sides. */
function degrees(description: Description, layers: Map<string, number>): Map<string, number> {
  const sides = new Map<string, [number, number]>();
  for (const { ends } of description.links) {
    for (const [own, other] of [ends, [ends[1], ends[0]] as const]) {
      const side = sides.get(own) ?? [0, 0];
      if ((layers.get(other) ?? 0) < (layers.get(own) ?? 0)) side[0] += 1;
      else side[1] += 1;
      sides.set(own, side);
    }
  }
  return new Map([...sides].map(([name, side]) => [name, Math.max(...side)]));
}

/** Lines between the facing sides of nodes. Each side has a port per link, ordered by the other ends. */
function lines(description: Description, nodes: NodeBox[], layers: Map<string, number>, rows: boolean): LinkLine[] {
  const boxes = new Map(nodes.map((node) => [node.name, node]));
  const ports = new Map<string, { link: number; end: 0 | 1; order: number }[]>();
  const sideOf = (own: string, other: string): string => {
    const mine = layers.get(own) ?? 0;
    const theirs = layers.get(other) ?? 0;
    return theirs > mine || (theirs === mine && mine === 0) ? "after" : "before";
  };
  description.links.forEach(({ ends }, link) => {
    for (const end of [0, 1] as const) {
      const own = ends[end];
      const other = boxes.get(ends[1 - end] as string);
      const key = `${own}\n${sideOf(own, other?.name ?? "")}`;
      const order = (rows ? other?.x : other?.y) ?? 0;
      ports.set(key, [...(ports.get(key) ?? []), { link, end, order }]);
    }
  });
  const places = new Map<string, Point>();
  for (const [key, list] of ports) {
    const [name = "", side] = key.split("\n");
    const box = boxes.get(name);
    if (!box) continue;
    list.sort((a, b) => a.order - b.order || a.link - b.link);
    list.forEach((port, at) => {
      const share = (at + 0.5) / list.length - 0.5;
      const sign = (side === "after" ? 1 : -1) * (rows ? -1 : 1);
      places.set(
        `${port.link}/${port.end}`,
        rows
          ? { x: box.x + share * box.width, y: box.y + (sign * box.height) / 2 }
          : { x: box.x + (sign * box.width) / 2, y: box.y + share * box.height },
      );
    });
  }
  return description.links.map((link, at) => {
    const from = places.get(`${at}/0`) ?? { x: 0, y: 0 };
    const to = places.get(`${at}/1`) ?? { x: 0, y: 0 };
    return { name: link.name, from, to, length: Math.hypot(to.x - from.x, to.y - from.y), labelled: false };
  });
}

/** The medium of each cell: an ellipse around its access point that reaches to the middle of its stations' links. */
function areas(description: Description, nodes: NodeBox[], links: LinkLine[]): Layout["cells"] {
  return description.cells.flatMap((cell) => {
    const box = nodes.find((node) => node.name === cell.accessPoint);
    if (!box) return [];
    const own = description.links.flatMap((link, at) => (link.cell === cell.name ? [links[at]] : []));
    const reach = own.map((line) => (line ? Math.abs(line.to.x - line.from.x) : 0));
    const rise = own.map((line) => (line ? Math.abs(line.to.y - line.from.y) : 0));
    return [
      {
        name: cell.name,
        x: box.x,
        y: box.y,
        rx: box.width / 2 + Math.max(50, 0.72 * Math.max(0, ...reach)),
        ry: Math.max(box.height / 2 + 30, 0.8 * Math.max(0, ...rise)),
      },
    ];
  });
}

/** The point at a share of a line, moved sideways; positive offsets lie to the left of the direction of travel. */
export function pointOn(line: LinkLine, share: number, offset: number): Point {
  const dx = line.to.x - line.from.x;
  const dy = line.to.y - line.from.y;
  const length = line.length || 1;
  return {
    x: line.from.x + dx * share + (dy / length) * offset,
    y: line.from.y + dy * share - (dx / length) * offset,
  };
}

/** Distance of a point from a line, px. */
export function distanceTo(line: LinkLine, point: Point): number {
  const dx = line.to.x - line.from.x;
  const dy = line.to.y - line.from.y;
  const square = dx * dx + dy * dy || 1;
  const share = Math.min(1, Math.max(0, ((point.x - line.from.x) * dx + (point.y - line.from.y) * dy) / square));
  return Math.hypot(point.x - line.from.x - share * dx, point.y - line.from.y - share * dy);
}
