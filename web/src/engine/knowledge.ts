// Names and descriptions for completion, menus and help, from the JSON Schema of scenario files.
import schema from "../../../docs/scenario.schema.json";
import type { Knowledge } from "./types";

interface Choice {
  const?: unknown;
  description?: string;
}

interface Node {
  properties?: Record<string, Node>;
  additionalProperties?: Node;
  oneOf?: Choice[];
}

const root = schema as unknown as Node;

function choices(table: string, key: string): { name: string; description: string }[] {
  const found = root.properties?.[table]?.additionalProperties?.properties?.[key]?.oneOf ?? [];
  return found.flatMap((choice) =>
    typeof choice.const === "string" ? [{ name: choice.const, description: choice.description ?? "" }] : [],
  );
}

export const knowledge: Knowledge = {
  schema,
  schedulers: choices("flows", "scheduler"),
  congestion: choices("flows", "congestion"),
  middleboxes: choices("middleboxes", "kind"),
};
