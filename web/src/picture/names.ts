// Free names for new paths, flows and middleboxes.

/** `base`, or `base-2`, `base-3` and so on if the name is taken. */
export function freeName(base: string, taken: string[]): string {
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}
