/** Which sessions are shown, as it stands in the address. */
export interface AgentsSearch {
  readonly agent?: string;
  /** Words that agent and session have. */
  readonly find?: string;
  /** Sessions below others, too. */
  readonly sub?: "shown";
}

export function readAgentsSearch({ agent, find, sub }: Readonly<Record<string, unknown>>): AgentsSearch {
  return {
    ...(typeof agent === "string" && agent !== "" ? { agent } : {}),
    ...(typeof find === "string" && find !== "" ? { find } : {}),
    ...(sub === "shown" ? { sub } : {}),
  };
}
