// Links that contain a scenario: TOML, compressed with DEFLATE, in the fragment of the address.

export interface Shared {
  toml?: string;
  seed: number;
  scene?: string;
  lesson?: string;
}

/** Scenarios are at most this long, bytes, as files are (crates/lab/src/scenario/files.rs). A link may be damaged or malicious. */
const LONGEST = 1 << 20;

/** The bytes after a stream. Rejects if there are more than LONGEST. */
async function piped(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough<Uint8Array>(stream as ReadableWritablePair).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > LONGEST) {
      await reader.cancel();
      throw new Error(`a scenario has at most ${LONGEST} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

export function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function fromBase64Url(text: string): Uint8Array {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

export async function encodeFragment(shared: Shared): Promise<string> {
  const parts = new URLSearchParams();
  if (shared.lesson) parts.set("lesson", shared.lesson);
  else if (shared.scene) parts.set("scene", shared.scene);
  else if (shared.toml !== undefined) {
    const bytes = await piped(new TextEncoder().encode(shared.toml), new CompressionStream("deflate-raw"));
    parts.set("s", toBase64Url(bytes));
  }
  if (shared.seed !== 1) parts.set("seed", String(shared.seed));
  return `#${parts.toString()}`;
}

/** Rejects if the fragment contains a damaged scenario. Returns null for a fragment without content. */
export async function decodeFragment(fragment: string): Promise<Shared | null> {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const seed = Number(parts.get("seed") ?? 1);
  const shared: Shared = { seed: Number.isInteger(seed) && seed >= 0 ? seed : 1 };
  const text = parts.get("s");
  const scene = parts.get("scene");
  const lesson = parts.get("lesson");
  if (lesson) return { ...shared, lesson };
  if (scene) return { ...shared, scene };
  if (!text) return null;
  try {
    const bytes = await piped(fromBase64Url(text), new DecompressionStream("deflate-raw"));
    return { ...shared, toml: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new Error("the link is damaged: its scenario cannot be read");
  }
}
