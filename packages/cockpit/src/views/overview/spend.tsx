// Tokens and money, as far as they are known: what models used while one watches, and how the budgets stand.

import { useSyncExternalStore, type ReactNode } from "react";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useLive } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { useBudgets, type BudgetRow } from "./use-overview.ts";

const SHOWN_MAX = 8;
const NEARLY = 0.8;

export function Spend(): ReactNode {
  const t = useMessages();
  const says = t.overview.spend;
  const format = useFormat();
  const { store } = useLive();
  const used = useSyncExternalStore(store.subscribe, store.usage);
  const budgets = useBudgets().data ?? [];
  const isNothing = used.calls === 0 && budgets.length === 0;
  return (
    <Panel title={says.title}>
      <div className="body spend">
        {isNothing ? <p className="dim">{says.none}</p> : null}
        {used.calls === 0 ? null : (
          <p>
            <b className="big">{format.compact(used.tokens)}</b>{" "}
            {t.common.count.tokens(used.tokens).replace(/^\S+ /, "")}
            {used.usd === 0 ? null : (
              <>
                {" "}
                <b className="big">{format.usd(used.usd)}</b>
              </>
            )}{" "}
            <span className="dim">
              {says.calls(used.calls)}, {says.sinceOpened}
            </span>
          </p>
        )}
        {budgets.length === 0 ? null : (
          <ul className="budgets">
            {budgets
              .toSorted((a, b) => shareOf(b) - shareOf(a))
              .slice(0, SHOWN_MAX)
              .map((budget) => (
                <Budget key={budget.id} budget={budget} />
              ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}

/** How much of its tightest limit is spent. */
function shareOf({ tokens, usd }: BudgetRow): number {
  return Math.max(share(tokens), share(usd));
}

function share({ spent, limit }: BudgetRow["usd"]): number {
  return limit === null || limit === 0 ? 0 : spent / limit;
}

function Budget({ budget }: { readonly budget: BudgetRow }): ReactNode {
  const t = useMessages().overview;
  const format = useFormat();
  const isUsd = budget.usd.limit !== null && share(budget.usd) >= share(budget.tokens);
  const { spent, limit } = isUsd ? budget.usd : budget.tokens;
  const text = (amount: number): string => (isUsd ? format.usd(amount) : format.compact(amount));
  const used = shareOf(budget);
  const tone = budget.isAsking ? "orange" : used >= NEARLY ? "amber" : "green";
  return (
    <li data-tone={tone}>
      <span className="cut">{visibleLine(budget.id)}</span>
      {budget.isAsking ? <Badge tone="orange">{t.attention.approval}</Badge> : null}
      <span className="dim numeric">{limit === null ? text(spent) : t.spend.of(text(spent), text(limit))}</span>
      {limit === null ? null : <meter min={0} max={1} high={NEARLY} value={Math.min(1, used)} />}
    </li>
  );
}
