// The open plots of a session as one SVG or PNG file.
import { curvesOf, PLOTS } from "../plots/series";
import type { PlotView } from "../plots/view.svelte";
import type { Session } from "../session/session.svelte";
import { LIGHT } from "../ui/palette";
import { svgOf, type SvgPlot } from "./svg";

export function figureOf(session: Session, view: PlotView): string {
  const [from, to] = view.range(session.time, session.description.duration);
  const time = session.history.samples.time();
  const open = PLOTS.filter((spec) => view.open.includes(spec.id));
  const plots = (open.length > 0 ? open : PLOTS.slice(0, 1)).map((spec): SvgPlot => {
    const curves = curvesOf(spec.id, {
      description: session.description,
      history: session.history,
      ghosts: session.ghosts,
      hues: session.hues,
      // Figures go into documents, which are light.
      colours: LIGHT,
      flow: view.flow,
    });
    return {
      title: `${spec.title}${session.description.flows.length > 1 ? ` of ${session.description.flows[view.flow]?.name ?? ""}` : ""}`,
      axis: spec.axis,
      from,
      to,
      curves: curves.map((curve) => {
        const values = curve.ghost?.goodput ?? curve.values ?? new Float64Array(0);
        return {
          label: curve.label,
          colour: curve.colour,
          dash: curve.dash,
          x: curve.ghost?.time ?? time,
          y: values.map((value) => value / spec.scale),
        };
      }),
    };
  });
  return svgOf(plots);
}

/** An SVG as a PNG with twice its size in pixels. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the figure is too large for a PNG")))),
  );
}
