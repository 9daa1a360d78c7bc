// Walks the JSON Schema of scenarios: keys of a table, values of a key, descriptions.

export interface Node {
  type?: string;
  const?: unknown;
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  oneOf?: Node[];
  examples?: unknown[];
  format?: string;
}

/** A node and its alternatives, without the arrays around them. */
function variants(node: Node): Node[] {
  const inner = node.items ? variants(node.items) : [];
  return [node, ...inner, ...(node.oneOf ?? []).flatMap(variants)];
}

function child(node: Node, key: string): Node | null {
  for (const variant of variants(node)) {
    const known = variant.properties?.[key];
    if (known) return known;
  }
  for (const variant of variants(node)) {
    if (typeof variant.additionalProperties === "object") return variant.additionalProperties;
  }
  return null;
}

export function nodeAt(root: Node, path: string[]): Node | null {
  let node: Node | null = root;
  for (const key of path) node = node && child(node, key);
  return node;
}

export interface Entry {
  name: string;
  description: string;
  /** Whether the value is a table, which has a header of its own. */
  table: boolean;
}

export function keysOf(node: Node | null): Entry[] {
  if (!node) return [];
  const found = new Map<string, Entry>();
  for (const variant of variants(node)) {
    for (const [name, value] of Object.entries(variant.properties ?? {})) {
      if (found.has(name)) continue;
      const table = value.type === "object" || (value.type === "array" && value.items?.type === "object");
      found.set(name, { name, description: descriptionOf(value), table });
    }
  }
  return [...found.values()];
}

export function valuesOf(node: Node | null): { text: string; description: string }[] {
  if (!node) return [];
  const found = new Map<string, string>();
  for (const variant of variants(node)) {
    if (variant.const !== undefined) found.set(JSON.stringify(variant.const), variant.description ?? "");
    if (variant.type === "boolean") ["true", "false"].forEach((word) => found.set(word, ""));
  }
  if (found.size === 0) {
    for (const variant of variants(node)) {
      for (const example of variant.examples ?? []) found.set(JSON.stringify(example), "example");
    }
  }
  return [...found].map(([text, description]) => ({ text, description }));
}

export function descriptionOf(node: Node | null): string {
  return (node?.description ?? node?.items?.description ?? "").replace(/\n/g, " ");
}

/** Headers of tables: `duration` is none, `events` is `[[events]]`, `paths` is `[paths.NAME]`. */
export function headersOf(root: Node): { text: string; array: boolean; description: string }[] {
  return Object.entries(root.properties ?? {}).flatMap(([name, value]): { text: string; array: boolean; description: string }[] => {
    const description = descriptionOf(value);
    if (value.type === "array" && value.items?.type === "object") return [{ text: name, array: true, description }];
    if (value.type !== "object") return [];
    const named = typeof value.additionalProperties === "object";
    return [{ text: named ? `${name}.` : name, array: false, description }];
  });
}

/** Tables whose names a key refers to. */
export const REFERENCES: Record<string, string[]> = {
  path: ["paths"],
  paths: ["paths", "links", "stations"],
  backup: ["paths", "links", "stations"],
  link: ["links"],
  links: ["links", "stations"],
  station: ["stations"],
  flows: ["flows"],
  cell: ["cells"],
  cells: ["cells"],
  middlebox: ["middleboxes"],
};
