// The position in a TOML text that a cursor has: in which table, at a key or at a value.

export type Place =
  | { kind: "header"; prefix: string; from: number }
  | { kind: "key"; path: string[]; prefix: string; from: number; used: string[] }
  | { kind: "value"; path: string[]; key: string; prefix: string; from: number };

const HEADER = /^\s*\[{1,2}([^\]]*)\]{1,2}\s*(?:#.*)?$/;
const WORD = /[A-Za-z0-9_-]*$/;

/** The keys of a dotted name: `paths."my path".rate` has three. */
export function dotted(name: string): string[] {
  const keys: string[] = [];
  for (const match of name.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+)/g)) {
    keys.push(match[1] ?? match[2] ?? match[3] ?? "");
  }
  return keys;
}

/** Names of tables such as `paths.NAME`, by their first key. */
export function namesIn(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [table, name] = dotted(HEADER.exec(line)?.[1] ?? "");
    if (table === undefined || name === undefined) continue;
    const names = found.get(table) ?? [];
    if (!names.includes(name)) names.push(name);
    found.set(table, names);
  }
  return found;
}

/** The table of a line, and the keys that it has already. */
function tableAt(lines: string[], row: number): { path: string[]; used: string[] } {
  let start = row;
  while (start >= 0 && !HEADER.test(lines[start] ?? "")) start -= 1;
  const path = start >= 0 ? dotted(HEADER.exec(lines[start] ?? "")?.[1] ?? "") : [];
  const used: string[] = [];
  for (let at = start + 1; at < lines.length && !HEADER.test(lines[at] ?? ""); at += 1) {
    const key = /^\s*([^=#\s]+)\s*=/.exec(lines[at] ?? "")?.[1];
    if (key && at !== row) used.push(dotted(key)[0] ?? key);
  }
  return { path, used };
}

interface Level {
  path: string[];
  used: string[];
  /** The key whose value follows; null while a key is expected. */
  key: string | null;
  start: number;
  array: boolean;
}

/** The place of an offset in the text; null in comments and in unfinished tables. */
export function placeAt(text: string, offset: number): Place | null {
  const before = text.slice(0, offset);
  const row = before.split("\n").length - 1;
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.slice(lineStart);
  const header = /^\s*\[{1,2}([^\]]*)$/.exec(line);
  if (header) {
    const prefix = header[1] ?? "";
    return { kind: "header", prefix, from: offset - prefix.length };
  }
  const table = tableAt(text.split("\n"), row);
  const levels: Level[] = [{ ...table, key: null, start: 0, array: false }];
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? "";
    const level = levels[levels.length - 1];
    if (!level) return null;
    if (quote) {
      if (letter === quote && line[at - 1] !== "\\") quote = "";
    } else if (letter === '"' || letter === "'") {
      quote = letter;
    } else if (letter === "#") {
      return null;
    } else if (letter === "=" && level.key === null) {
      const keys = dotted(line.slice(level.start, at));
      const key = keys.pop() ?? "";
      level.used.push(keys[0] ?? key);
      level.path = [...level.path, ...keys];
      level.key = key;
      level.start = at + 1;
    } else if (letter === "{" && level.key !== null) {
      levels.push({ path: [...level.path, level.key], used: [], key: null, start: at + 1, array: false });
    } else if (letter === "[" && level.key !== null) {
      levels.push({ path: level.path, used: [], key: level.key, start: at + 1, array: true });
    } else if (letter === "," && levels.length > 1) {
      level.start = at + 1;
      if (!level.array) level.key = null;
    } else if ((letter === "}" || letter === "]") && levels.length > 1) {
      levels.pop();
    }
  }
  const level = levels[levels.length - 1];
  if (!level) return null;
  if (level.key === null) {
    const prefix = WORD.exec(line.slice(level.start))?.[0] ?? "";
    return { kind: "key", path: level.path, prefix, from: offset - prefix.length, used: level.used };
  }
  const prefix = line.slice(level.start).trimStart();
  return { kind: "value", path: level.path, key: level.key, prefix, from: offset - prefix.length };
}
