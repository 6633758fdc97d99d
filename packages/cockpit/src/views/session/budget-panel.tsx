// The budget of a session with all below it: used, reserved for calls under way, and the limit.

import { useQueryClient } from "@tanstack/react-query";
import { CirclePlus } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import type { AgentSessionView, BudgetRaiseRequest, JsonValue } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useViewerField } from "../../approvals/viewer-field.tsx";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { Panel } from "../../ui/panel.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";
import { budgetIn, type Dimension, type DimensionName } from "./budget.ts";

const NEARLY = 0.8;

export function BudgetPanel({ budget }: { readonly budget: AgentSessionView["budget"] }): ReactNode {
  const t = useMessages().session.aside;
  const [isRaising, setRaising] = useState(false);
  if (budget === null)
    return (
      <Panel title={t.budget}>
        <p className="body dim">{t.noBudget}</p>
      </Panel>
    );
  const { dimensions, waiting, isAsking, isDenied } = budgetIn(budget.status);
  return (
    <Panel
      title={t.budget}
      tools={
        <Button size="s" look="ghost" onClick={() => setRaising(true)}>
          <CirclePlus aria-hidden />
          {t.raise}
        </Button>
      }
    >
      <div className="body budget">
        {dimensions.map((dimension) => (
          <Bar key={dimension.name} dimension={dimension} isAsking={isAsking} />
        ))}
        {waiting === 0 ? null : (
          <p data-tone="orange" className="toned">
            {t.waiting(waiting)}
          </p>
        )}
        {isAsking ? (
          <p data-tone="orange" className="toned">
            {t.asked}
          </p>
        ) : null}
        {isDenied ? (
          <p data-tone="red" className="toned">
            {t.denied}
          </p>
        ) : null}
      </div>
      {isRaising ? (
        <RaiseDialog id={budget.id} has={dimensions.map(({ name }) => name)} onClose={() => setRaising(false)} />
      ) : null}
    </Panel>
  );
}

function Bar({ dimension, isAsking }: { readonly dimension: Dimension; readonly isAsking: boolean }): ReactNode {
  const t = useMessages().session.aside;
  const text = useAmountText();
  const { name, spent, reserved, limit } = dimension;
  const share = (amount: number): number => (limit === 0 ? 1 : Math.max(0, Math.min(1, amount / limit)));
  const used = share(spent);
  const held = Math.min(1 - used, share(reserved));
  const tone = isAsking ? "orange" : used + held >= NEARLY ? "amber" : "green";
  const whole = `${t.dimension[name]}: ${t.of(text(name, spent), text(name, limit))}`;
  return (
    <div className="budget-line" data-tone={tone}>
      <p>
        <span>{t.dimension[name]}</span>
        <span className="numeric">{t.of(text(name, spent), text(name, limit))}</span>
      </p>
      <div
        className="budget-bar"
        role="meter"
        aria-label={whole}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(spent, limit)}
        aria-valuetext={whole}
      >
        <span className="budget-spent" style={{ width: `${used * 100}%` }} />
        <span className="budget-reserved" style={{ width: `${held * 100}%` }} />
      </div>
      {reserved === 0 ? null : (
        <p className="dim">
          {text(name, reserved)} {t.reserved}
        </p>
      )}
    </div>
  );
}

function useAmountText(): (name: DimensionName, amount: number) => string {
  const format = useFormat();
  return (name, amount) => {
    switch (name) {
      case "usd":
        return format.usd(amount);
      case "wallMs":
        return format.duration(amount);
      case "tokens":
        return format.compact(amount);
      case "calls":
        return format.number(amount);
    }
  };
}

interface RaiseDialogProps {
  readonly id: string;
  /** What it has limits of. */
  readonly has: readonly DimensionName[];
  readonly onClose: () => void;
}

function RaiseDialog({ id, has, onClose }: RaiseDialogProps): ReactNode {
  const t = useMessages().session.aside;
  const api = useApi();
  const queries = useQueryClient();
  const who = useViewerField();
  const fieldId = useId();
  const [texts, setTexts] = useState<Partial<Record<DimensionName, string>>>({});
  const [isWrong, setWrong] = useState(false);
  const labels = { tokens: t.tokensMore, usd: t.usdMore, calls: t.callsMore, wallMs: t.wallMore };
  const amounts = amountsIn(texts);
  const raise = (): Promise<void> | false => {
    if (amounts === null) {
      setWrong(true);
      return false;
    }
    who.remember();
    return api.post<JsonValue>(path`/budgets/${id}/raise`, { ...amounts, by: who.name }).then(() => {
      say(t.raised);
      void queries.invalidateQueries({ queryKey: ["session"] });
    });
  };
  return (
    <ConfirmForm
      title={t.raiseTitle}
      label={t.raise}
      icon={<CirclePlus aria-hidden />}
      command={`npx perdure budget ${shellWord(id)} --raise ${shellWord(raiseText(amounts))}${who.name === "" ? "" : ` --as ${shellWord(who.name)}`}`}
      onConfirm={raise}
      onClose={onClose}
    >
      <p className="dim">{t.raiseHelp}</p>
      <div className="raise-fields">
        {has.map((name, at) => (
          <div key={name} className="field">
            <label htmlFor={`${fieldId}-${name}`}>{labels[name]}</label>
            <input
              id={`${fieldId}-${name}`}
              className="input"
              inputMode={name === "wallMs" ? "text" : "decimal"}
              autoFocus={at === 0}
              value={texts[name] ?? ""}
              aria-invalid={isWrong}
              onChange={(event) => {
                setTexts({ ...texts, [name]: event.target.value });
                setWrong(false);
              }}
            />
          </div>
        ))}
      </div>
      {isWrong ? (
        <p className="notice" data-tone="red" role="alert">
          {t.notAmount}
        </p>
      ) : null}
      {who.field}
    </ConfirmForm>
  );
}

type Amounts = Pick<BudgetRaiseRequest, "tokens" | "usd" | "calls" | "wall">;

/** Null: nothing that could be added. */
function amountsIn(texts: Partial<Record<DimensionName, string>>): Amounts | null {
  const amounts: Record<string, number | string> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text.trim() === "") continue;
    if (name === "wallMs") amounts["wall"] = text.trim();
    else {
      const amount = Number(text.replaceAll(/[,_ ]/g, ""));
      if (!(amount > 0)) return null;
      amounts[name] = amount;
    }
  }
  return Object.keys(amounts).length === 0 ? null : amounts;
}

function raiseText(amounts: Amounts | null): string {
  const parts = Object.entries(amounts ?? {}).map(([name, amount]) => `${name}=${amount}`);
  return parts.length === 0 ? "tokens=50000" : parts.join(",");
}
