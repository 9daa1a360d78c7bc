// The scenario of `mptcplab page FILE`: the server of the page has it, and the token of the URL allows to read it.

export interface Served {
  toml: string;
  seed: number;
}

/** Null if the page was not opened with a token, or if the server has no scenario (204). Rejects if the server refuses. */
export async function servedScenario(page: { search: string; protocol: string }): Promise<Served | null> {
  const token = new URLSearchParams(page.search).get("token");
  if (!token || !page.protocol.startsWith("http")) return null;
  const response = await fetch(`scenario?token=${encodeURIComponent(token)}`);
  if (response.status === 204) return null;
  if (!response.ok) throw new Error(`the server refused to send the scenario: ${await response.text()}`);
  return (await response.json()) as Served;
}
