// Completion and hover help of the editor, from the schema and from the names in the text.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import type { Knowledge } from "../engine/types";
import { descriptionOf, headersOf, keysOf, nodeAt, REFERENCES, valuesOf, type Node } from "./schema";
import { namesIn, placeAt } from "./toml";

export function completions(root: Node, text: string, offset: number): { from: number; options: Completion[] } | null {
  const place = placeAt(text, offset);
  if (!place) return null;
  if (place.kind === "header") {
    const isArray = /\[\[$/.test(text.slice(0, place.from).trimEnd());
    const options = headersOf(root)
      .filter((header) => header.array === isArray)
      .map((header) => ({ label: header.text, info: header.description, type: "namespace" }));
    return { from: place.from, options };
  }
  if (place.kind === "key") {
    const options = keysOf(nodeAt(root, place.path))
      .filter((entry) => !place.used.includes(entry.name) && !(place.path.length === 0 && entry.table))
      .map((entry) => ({
        label: entry.name,
        info: entry.description,
        type: "property",
        apply: `${entry.name} = `,
      }));
    return { from: place.from, options };
  }
  const options: Completion[] = valuesOf(nodeAt(root, [...place.path, place.key])).map((value) => ({
    label: value.text,
    info: value.description || undefined,
    type: "enum",
  }));
  const names = namesIn(text);
  for (const table of REFERENCES[place.key] ?? []) {
    for (const name of names.get(table) ?? []) options.push({ label: JSON.stringify(name), type: "variable" });
  }
  return { from: place.from, options };
}

export function completionSource(knowledge: Knowledge) {
  const root = knowledge.schema as Node;
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    const found = completions(root, text, context.pos);
    if (!found || found.options.length === 0) return null;
    const typed = context.pos > found.from || /[[{="]\s*$/.test(text.slice(Math.max(0, context.pos - 3), context.pos));
    return context.explicit || typed ? { ...found, validFor: /^["A-Za-z0-9_.-]*$/ } : null;
  };
}

/** The description of the key or table at an offset. */
export function helpAt(root: Node, text: string, offset: number): { name: string; help: string } | null {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const lineEnd = text.indexOf("\n", offset);
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
  const header = /^\s*\[{1,2}\s*([A-Za-z_]+)/.exec(line);
  if (header) {
    const name = header[1] ?? "";
    return { name, help: descriptionOf(nodeAt(root, [name])) };
  }
  const column = offset - lineStart;
  const start = (/[A-Za-z0-9_-]*$/.exec(line.slice(0, column))?.index ?? column) + lineStart;
  const word = /^[A-Za-z0-9_-]+/.exec(text.slice(start))?.[0];
  if (!word) return null;
  const place = placeAt(text, start);
  if (place?.kind === "key") {
    const help = descriptionOf(nodeAt(root, [...place.path, word]));
    return help ? { name: word, help } : null;
  }
  if (place?.kind === "value") {
    const value = valuesOf(nodeAt(root, [...place.path, place.key])).find((known) => known.text === JSON.stringify(word));
    return value?.description ? { name: word, help: value.description } : null;
  }
  return null;
}

export function hoverHelp(knowledge: Knowledge) {
  return hoverTooltip((view, offset) => {
    const found = helpAt(knowledge.schema as Node, view.state.doc.toString(), offset);
    if (!found) return null;
    return {
      pos: offset,
      above: true,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "cm-help";
        const name = dom.appendChild(document.createElement("b"));
        name.textContent = found.name;
        dom.append(`: ${found.help}`);
        return { dom };
      },
    };
  });
}
