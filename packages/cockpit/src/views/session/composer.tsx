// Where a person writes to the agent: what becomes of the message while the agent is at work is chosen here, and said.

import { ChevronDown, SendHorizontal } from "lucide-react";
import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { AgentMessagePolicy } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { visibleText } from "../../ui/visible-text.ts";
import type { Outbox } from "./outbox.ts";

const POLICIES: readonly AgentMessagePolicy[] = ["steer", "interrupt", "queue", "collect", "restart"];
const ROWS_MAX = 10;

export interface ComposerProps {
  readonly outbox: Outbox;
  readonly isAtWork: boolean;
}

export function Composer({ outbox, isAtWork }: ComposerProps): ReactNode {
  const t = useMessages();
  const says = t.session.composer;
  const [text, setText] = useState("");
  const [policy, setPolicy] = useState<AgentMessagePolicy>("steer");
  const field = useRef<HTMLTextAreaElement>(null);
  useHotkeys([{ keys: "c", label: says.label, run: () => field.current?.focus() }]);
  const send = (): void => {
    if (text.trim() === "") return;
    // What nobody chose is left to the agent, which may judge for itself.
    outbox.send(text.trim(), isAtWork && policy !== "steer" ? policy : undefined);
    setText("");
    setPolicy("steer");
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape") event.currentTarget.blur();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Unsent outbox={outbox} />
      <div className="composer-box">
        <textarea
          ref={field}
          rows={Math.min(ROWS_MAX, text.split("\n").length)}
          aria-label={says.label}
          placeholder={says.placeholder}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
        />
        <div className="composer-tools">
          {isAtWork ? <PolicyMenu policy={policy} onChoose={setPolicy} /> : null}
          <p className="composer-help dim">{isAtWork ? says.help[policy] : says.idle}</p>
          <span className="composer-keys dim">{says.keys}</span>
          <Button type="submit" look="primary" size="s" disabled={text.trim() === ""}>
            <SendHorizontal aria-hidden />
            {says.send}
          </Button>
        </div>
      </div>
    </form>
  );
}

interface PolicyMenuProps {
  readonly policy: AgentMessagePolicy;
  readonly onChoose: (policy: AgentMessagePolicy) => void;
}

function PolicyMenu({ policy, onChoose }: PolicyMenuProps): ReactNode {
  const t = useMessages().session.composer;
  return (
    <Menu
      side="top"
      trigger={
        <Button size="s" aria-label={`${t.policy}: ${t.name[policy]}`}>
          {t.name[policy]}
          <ChevronDown aria-hidden />
        </Button>
      }
      groups={[
        {
          label: t.policy,
          items: POLICIES.map((one) => ({
            label: t.name[one],
            help: t.help[one],
            isChosen: one === policy,
            onSelect: () => onChoose(one),
          })),
        },
      ]}
    />
  );
}

const UNSENT_TONES = { sending: "grey", waiting: "amber", refused: "red" } as const;

/** What could not be sent stays, and goes out again as the same message. */
function Unsent({ outbox }: { readonly outbox: Outbox }): ReactNode {
  const t = useMessages().session;
  const open = outbox.messages.flatMap(({ key, text, state }) => (state === "accepted" ? [] : [{ key, text, state }]));
  if (open.length === 0) return null;
  return (
    <ul className="unsent" aria-live="polite">
      {open.map(({ key, text, state }) => (
        <li key={key} data-tone={UNSENT_TONES[state]}>
          <span className="receipt">{t.receipt[state]}</span>
          <span className="cut">{visibleText(text)}</span>
          {state === "sending" ? null : (
            <>
              <Button size="s" onClick={() => outbox.again(key)}>
                {t.composer.retry}
              </Button>
              <Button size="s" look="ghost" onClick={() => outbox.discard(key)}>
                {t.composer.discard}
              </Button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
