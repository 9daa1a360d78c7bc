// The curves of each plot: which columns of the history, with which names, colours and dashes.
import type { Description, Ghost } from "../engine/types";
import type { History } from "../session/history";
import { rateText, sizeText, timeText } from "../ui/format";
import { colourOf, dashOf, type Colours, type Hues } from "../ui/palette";
import { smoothed } from "./data";

export type PlotId = "goodput" | "throughput" | "cwnd" | "rtt" | "queue" | "buffers";

export interface Curve {
  label: string;
  colour: string;
  dash: number[];
  width: number;
  values: Float64Array | undefined;
  /** Has a time axis of its own. */
  ghost?: Ghost;
}

export interface PlotSpec {
  id: PlotId;
  title: string;
  /** Quantity and unit of the vertical axis. */
  axis: string;
  /** Value of one unit of the axis. */
  scale: number;
  text: (value: number) => string;
}

export const PLOTS: PlotSpec[] = [
  { id: "goodput", title: "Goodput, mean over 0.5 s", axis: "Mb/s", scale: 1e6, text: rateText },
  { id: "throughput", title: "Throughput by path", axis: "Mb/s", scale: 1e6, text: rateText },
  { id: "cwnd", title: "Congestion window", axis: "kB", scale: 1e3, text: sizeText },
  { id: "rtt", title: "Round-trip time", axis: "ms", scale: 1e-3, text: timeText },
  { id: "queue", title: "Queue", axis: "kB", scale: 1e3, text: sizeText },
  { id: "buffers", title: "Buffers", axis: "kB", scale: 1e3, text: sizeText },
];

/** Seconds of the mean that the goodput plot shows. */
const SMOOTHING = 0.5;
const MOST_FLOWS = 8;
const MOST_PATHS = 10;

export interface Context {
  description: Description;
  history: History;
  ghosts: Ghost[];
  hues: Hues;
  colours: Colours;
  /** The flow whose paths are shown. */
  flow: number;
}

export function curvesOf(id: PlotId, context: Context): Curve[] {
  switch (id) {
    case "goodput":
      return goodput(context);
    case "throughput":
      return byPath(context, "throughput");
    case "cwnd":
      return byPath(context, "cwnd");
    case "rtt":
      return byPath(context, "srtt");
    case "queue":
      return queues(context);
    case "buffers":
      return buffers(context);
  }
}

function metric(context: Context, name: string): number {
  return context.description.metrics.findIndex((other) => other.name === name);
}

function goodput(context: Context): Curve[] {
  const { description, history, hues, colours, ghosts } = context;
  const at = metric(context, "goodput");
  const own = description.flows[context.flow];
  const totals = description.flows.slice(0, MOST_FLOWS).map((flow, index): Curve => {
    const single = flow.paths.length === 1;
    return {
      label: description.flows.length === 1 ? "total" : flow.name,
      colour: single ? colourOf(colours, hues.of(flow.name, flow.paths[0] ?? "")) : colours.ink,
      dash: index === context.flow || single ? [] : dashOf(index),
      width: 2.2,
      values: history.column(index, null, at),
    };
  });
  const paths = own && own.paths.length > 1 ? byPath(context, "goodput", 1.4) : [];
  const compared = ghosts
    .filter((ghost) => ghost.flow === own?.name)
    .map(
      (ghost): Curve => ({
        label: `TCP over ${ghost.path}`,
        colour: colourOf(colours, hues.of(ghost.flow, ghost.path)),
        dash: [3, 4],
        width: 1.4,
        values: undefined,
        ghost,
      }),
    );
  return [...totals, ...paths, ...compared].map((curve) => calm(curve, history.samples.time()));
}

/** In-order data arrives in bursts, so the curve shows the mean of the last half second. */
function calm(curve: Curve, time: Float64Array): Curve {
  const { ghost, values } = curve;
  if (ghost) return { ...curve, ghost: { ...ghost, goodput: smoothed(ghost.time, ghost.goodput, SMOOTHING) } };
  return { ...curve, values: values && smoothed(time, values, SMOOTHING) };
}

/** The paths of a flow that have samples: its links, and numbered subflows such as `wifi#2`. */
export function pathsOf(context: Context): number[] {
  const { description } = context;
  const flow = description.flows[context.flow];
  if (!flow) return [];
  const links = new Set(flow.paths);
  return description.paths.flatMap((name, index) => (links.has(name.split("#")[0] ?? "") ? [index] : []));
}

function byPath(context: Context, name: string, width = 1.8): Curve[] {
  const { description, history, hues, colours } = context;
  const at = metric(context, name);
  const flow = description.flows[context.flow];
  if (!flow) return [];
  return pathsOf(context)
    .map((path): Curve => {
      const label = description.paths[path] ?? "";
      const hue = hues.of(flow.name, label);
      return {
        label,
        colour: colourOf(colours, hue),
        dash: dashOf(hue),
        width,
        values: history.column(context.flow, path, at),
      };
    })
    .filter((curve) => curve.values !== undefined)
    .slice(0, MOST_PATHS);
}

/** Queues of links: those of the flow's paths first, then other links with samples. */
function queues(context: Context): Curve[] {
  const { description, history, hues, colours } = context;
  const at = metric(context, "queue");
  const own = pathsOf(context);
  const others = description.links.map((_, index) => index).filter((index) => !own.includes(index));
  return [...own, ...others]
    .map((path): Curve => {
      const label = description.paths[path] ?? "";
      const hue = hues.link(label);
      return {
        label,
        colour: colourOf(colours, hue),
        dash: dashOf(hue),
        width: 1.8,
        values: history.column(null, path, at) ?? history.column(context.flow, path, at),
      };
    })
    .filter((curve) => curve.values !== undefined)
    .slice(0, MOST_PATHS);
}

function buffers(context: Context): Curve[] {
  const { history, colours } = context;
  const parts: [string, string, number, number[]][] = [
    ["receive_window", "receive window", 0, []],
    ["out_of_order", "out of order", 1, [8, 3]],
    ["send_queue", "send queue", 2, [3, 3]],
  ];
  return parts
    .map(
      ([name, label, hue, dash]): Curve => ({
        label,
        colour: colourOf(colours, hue + 4),
        dash,
        width: 1.8,
        values: history.column(context.flow, null, metric(context, name)),
      }),
    )
    .filter((curve) => curve.values !== undefined);
}
