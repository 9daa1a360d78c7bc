// Draws curves as SVG, for reports and papers.
import { ticks } from "../plots/ticks";

export interface SvgCurve {
  label: string;
  colour: string;
  dash: number[];
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface SvgPlot {
  title: string;
  axis: string;
  curves: SvgCurve[];
  from: number;
  to: number;
}

const WIDTH = 720;
const HEIGHT = 260;
/** Height of one more row of a legend. */
const ROW = 16;
const EDGE = { left: 64, right: 16, top: 34, bottom: 62 };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? "");
}

/** The `d` of a path; missing values start a new part. */
function line(curve: SvgCurve, x: (value: number) => number, y: (value: number) => number): string {
  let pen = "M";
  let path = "";
  for (let at = 0; at < curve.x.length; at += 1) {
    const value = curve.y[at] ?? Number.NaN;
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${x(curve.x[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  }
  return path;
}

function drawing(plot: SvgPlot, top: number): string {
  let largest = 0;
  for (const { y } of plot.curves) {
    for (let at = 0; at < y.length; at += 1) if (Number.isFinite(y[at])) largest = Math.max(largest, y[at] ?? 0);
  }
  const high = largest * 1.05 || 1;
  const [left, right] = [EDGE.left, WIDTH - EDGE.right];
  const bottom = top + HEIGHT - EDGE.bottom;
  const x = (time: number) => left + ((time - plot.from) / (plot.to - plot.from || 1)) * (right - left);
  const y = (value: number) => bottom - (value / high) * (HEIGHT - EDGE.top - EDGE.bottom);
  const parts = [`<text x="${left}" y="${top + 18}" font-weight="600" font-size="14">${escaped(plot.title)}</text>`];
  for (const value of ticks(0, high, 5)) {
    parts.push(`<path d="M${left} ${y(value).toFixed(1)}H${right}" stroke="#d7dce3"/>`);
    parts.push(`<text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${value}</text>`);
  }
  for (const time of ticks(plot.from, plot.to, 8)) {
    parts.push(`<text x="${x(time).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${time}</text>`);
  }
  parts.push(`<text x="${(left + right) / 2}" y="${bottom + 32}" text-anchor="middle">time [s]</text>`);
  const middle = (y(0) + y(high)) / 2;
  parts.push(
    `<text transform="translate(16 ${middle.toFixed(1)}) rotate(-90)" text-anchor="middle">${escaped(plot.axis)}</text>`,
  );
  const places = legendOf(plot.curves);
  for (const [index, curve] of plot.curves.entries()) {
    const { at, row } = places[index] ?? { at: left, row: 0 };
    const base = bottom + 48 + ROW * row;
    const dash = curve.dash.length > 0 ? ` stroke-dasharray="${curve.dash.join(" ")}"` : "";
    const stroke = `stroke="${curve.colour}" stroke-width="1.6" fill="none"${dash}`;
    parts.push(`<path d="${line(curve, x, y)}" ${stroke}/>`);
    parts.push(`<path d="M${at} ${base}h22" ${stroke}/>`);
    parts.push(`<text x="${at + 27}" y="${base + 4}">${escaped(curve.label)}</text>`);
  }
  return parts.join("\n");
}

/** Where each entry of a legend starts; a full row continues in the next one. */
export function legendOf(curves: { label: string }[]): { at: number; row: number }[] {
  let [at, row] = [EDGE.left, 0];
  return curves.map(({ label }) => {
    const width = 42 + 7 * label.length;
    if (at > EDGE.left && at + width > WIDTH - EDGE.right) [at, row] = [EDGE.left, row + 1];
    const place = { at, row };
    at += width;
    return place;
  });
}

function heightOf(plot: SvgPlot): number {
  return HEIGHT + ROW * (legendOf(plot.curves).at(-1)?.row ?? 0);
}

export function svgOf(plots: SvgPlot[]): string {
  let height = 0;
  const drawings = plots.map((plot) => {
    const top = height;
    height += heightOf(plot);
    return drawing(plot, top);
  });
  height = Math.max(height, HEIGHT);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11.5" fill="#1c222b">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...drawings,
    "</svg>\n",
  ].join("\n");
}
