// Splits a text into plain and marked parts.

export interface Part {
  kind: "plain" | "bold" | "emphasis" | "code";
  text: string;
}

export function parts(text: string): Part[] {
  const found: Part[] = [];
  let at = 0;
  for (const match of text.matchAll(/\*\*(.+?)\*\*|\*(.+?)\*|`(.+?)`/g)) {
    if (match.index > at) found.push({ kind: "plain", text: text.slice(at, match.index) });
    if (match[1] !== undefined) found.push({ kind: "bold", text: match[1] });
    else if (match[2] !== undefined) found.push({ kind: "emphasis", text: match[2] });
    else found.push({ kind: "code", text: match[3] ?? "" });
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ kind: "plain", text: text.slice(at) });
  return found;
}
