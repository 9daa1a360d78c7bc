// Saves files to the reader's disk, and copies text.

export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers read the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name without letters that file systems refuse. */
export function fileName(base: string, ending: string): string {
  const safe = base.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  return `${safe || "scenario"}.${ending}`;
}

/** Copies text. Returns whether it worked; pages opened as files may have no clipboard. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const worked = document.execCommand("copy");
    area.remove();
    return worked;
  }
}
