// The tables and their columns, to be looked up and clicked into the statement.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { SqlAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { tablesOf, TABLES_QUERY } from "./tables.ts";

export function TablesPanel({ onInsert }: { readonly onInsert: (text: string) => void }): ReactNode {
  const t = useMessages().sql;
  const api = useApi();
  const { data } = useQuery({
    queryKey: ["sql-tables"],
    queryFn: async () => tablesOf(await api.post<SqlAnswer>("/sql", { query: TABLES_QUERY, limit: 5_000 })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <section className="sql-tables panel" aria-label={t.tables}>
      <h2>{t.tables}</h2>
      {data?.map(({ name, columns }) => (
        <details key={name} open={name === "runs"}>
          <summary>
            <code>{name}</code>
            <span className="dim">{t.about[name as keyof typeof t.about] ?? ""}</span>
          </summary>
          <ul>
            {columns.map((column) => (
              <li key={column.name}>
                <button type="button" title={t.insert(column.name)} onClick={() => onInsert(column.name)}>
                  <code>{column.name}</code>
                  <span className="dim">{column.type.toLowerCase()}</span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}
