import type { SqlAnswer } from "@perdure/protocol";

export interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

export const TABLES_QUERY = `SELECT tables.name, columns.name, columns.type
FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'
ORDER BY tables.name, columns.cid`;

/** What people ask about stands first; how the store keeps house comes last. */
const FIRST = ["runs", "entries", "state", "streams", "chunks", "timers", "promises", "waiters"];

export function tablesOf({ rows }: Pick<SqlAnswer, "rows">): readonly Table[] {
  const tables = new Map<string, { name: string; type: string }[]>();
  for (const row of rows) {
    const [table = "", name = "", type = ""] = row.filter((cell) => typeof cell === "string");
    const columns = tables.get(table) ?? [];
    tables.set(table, columns);
    columns.push({ name, type });
  }
  const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return [...tables]
    .map(([name, columns]) => ({ name, columns }))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}
