// The rows of a conversation.

import { ArrowDownToLine, Check, CheckCheck, CircleAlert, Clock3, CornerUpLeft, RotateCcw } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { ApprovalSummary, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Payload } from "../../ui/payload.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { Answer } from "./answer.tsx";
import type { Block } from "./conversation.ts";
import { Disclosure } from "./disclosure.tsx";
import type { TurnEnd } from "./items.ts";
import { useOpenPart } from "./open-parts.ts";
import { receiptOf, type Receipt } from "./receipts.ts";

export interface BlockRowProps {
  readonly block: Block;
  readonly isCurrent: boolean;
  /** The run of the message, where it is kept. */
  readonly run: RunSummary | undefined;
  readonly approvals: ReadonlyMap<string, ApprovalSummary>;
  /** What can be done with it. */
  readonly menu: ReactNode;
}

export const BlockRow = memo(
  function BlockRow(props: BlockRowProps): ReactNode {
    const { block, isCurrent } = props;
    const t = useMessages().session;
    const isHidden = "isHidden" in block && block.isHidden;
    return (
      <div
        className="block"
        data-kind={block.kind}
        data-current={isCurrent || undefined}
        data-hidden={isHidden || undefined}
        title={isHidden ? t.hidden : undefined}
      >
        <BlockContent {...props} />
      </div>
    );
  },
  (a, b) =>
    a.block === b.block &&
    a.isCurrent === b.isCurrent &&
    a.run?.status === b.run?.status &&
    a.approvals === b.approvals,
);

function BlockContent({ block, run, approvals, menu }: BlockRowProps): ReactNode {
  const t = useMessages().session;
  switch (block.kind) {
    case "message": {
      const { message, at } = block;
      const { notice } = message;
      const who = notice === undefined ? (message.from ?? t.user) : t.notice(notice.child);
      return (
        <Said
          id={block.key}
          who={visibleLine(who)}
          at={at}
          text={message.text}
          policy={message.policy}
          receipt={notice === undefined && run !== undefined ? receiptOf(true, run.status) : null}
          isNotice={notice !== undefined}
          menu={menu}
        />
      );
    }
    case "pending": {
      const { message } = block;
      return (
        <Said
          id={block.key}
          who={visibleLine(message.from ?? t.user)}
          at={message.at}
          text={message.text}
          policy={message.policy}
          receipt={receiptOf(false, run?.status)}
          isNotice={false}
          menu={menu}
        />
      );
    }
    case "answer":
      return (
        <>
          <Answer block={block} approvals={approvals} />
          {menu}
        </>
      );
    case "compaction":
      return (
        <Disclosure
          id={block.key}
          className="marker"
          summary={<Marked icon={<ArrowDownToLine aria-hidden />} text={t.compaction.title(block.dropped)} />}
        >
          <p className="dim">{t.compaction.help}</p>
          <p className="summary-text">{visibleText(block.summary)}</p>
        </Disclosure>
      );
    case "restart":
      return (
        <p className="marker" data-tone="amber">
          <CornerUpLeft aria-hidden />
          <b>{t.restart.title}</b>
          <span>{t.restart.help(String(block.from))}</span>
        </p>
      );
    case "turn-end":
      return <Ended end={block.end} />;
    case "unknown":
      return <Payload value={block.json} />;
  }
}

function Marked({ icon, text }: { readonly icon: ReactNode; readonly text: string }): ReactNode {
  return (
    <>
      {icon}
      <span>{text}</span>
    </>
  );
}

interface SaidProps {
  /** Names it among all of the conversation. */
  readonly id: string;
  readonly who: string;
  readonly at: string;
  readonly text: string;
  readonly policy: keyof ReturnType<typeof useMessages>["session"]["composer"]["name"];
  readonly receipt: Receipt | null;
  readonly isNotice: boolean;
  readonly menu: ReactNode;
}

function Said({ id, who, at, text, policy, receipt, isNotice, menu }: SaidProps): ReactNode {
  const t = useMessages().session;
  const format = useFormat();
  const instant = Date.parse(at);
  return (
    <div className="said" data-notice={isNotice || undefined}>
      <p className="said-head">
        <b>{who}</b>
        {policy === "steer" || isNotice ? null : <span className="dim">{t.composer.name[policy]}</span>}
        <time className="dim" dateTime={at} title={format.dateTime(instant)}>
          {isToday(instant) ? format.time(instant) : format.dateTime(instant)}
        </time>
        {receipt === null ? null : <ReceiptMark receipt={receipt} />}
        {menu}
      </p>
      <SaidText id={id} text={text} />
    </div>
  );
}

function isToday(instant: number): boolean {
  return new Date(instant).toDateString() === new Date().toDateString();
}

const LONG_CHARS = 1_200;
const LONG_LINES = 16;

/** What is long opens: somebody may have sent a whole document. */
function SaidText({ id, text }: { readonly id: string; readonly text: string }): ReactNode {
  const t = useMessages().common;
  const [isOpen, toggle] = useOpenPart(id);
  const isLong = text.length > LONG_CHARS || text.split("\n").length > LONG_LINES;
  if (!isLong) return <p className="said-text">{visibleText(text)}</p>;
  return (
    <>
      <p className="said-text" data-cut={!isOpen || undefined}>
        {visibleText(isOpen ? text : text.slice(0, LONG_CHARS))}
      </p>
      <span>
        <Button look="ghost" size="s" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? t.less : t.more}
        </Button>
      </span>
    </>
  );
}

const RECEIPT_ICONS: Readonly<Record<Receipt, ReactNode>> = {
  accepted: <Check aria-hidden />,
  seen: <CheckCheck aria-hidden />,
  answered: <CheckCheck aria-hidden />,
  failed: <CircleAlert aria-hidden />,
  withdrawn: <RotateCcw aria-hidden />,
};

function ReceiptMark({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const t = useMessages().session.receipt;
  return (
    <span className="receipt" data-receipt={receipt} title={t.help[receipt]}>
      {RECEIPT_ICONS[receipt]}
      {t[receipt]}
    </span>
  );
}

function Ended({ end: { reason, usage, error } }: { readonly end: TurnEnd }): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const tokens = usage.inputTokens + usage.outputTokens;
  const isBad = reason === "failed" || reason === "cancelled";
  return (
    <p className="turn-end" data-tone={isBad ? "red" : "grey"}>
      {isBad ? <CircleAlert aria-hidden /> : <Clock3 aria-hidden />}
      <b>{t.session.ended[reason]}</b>
      {error === undefined ? null : <span className="turn-error">{visibleText(error)}</span>}
      <span>{t.session.calls(usage.calls)}</span>
      <span title={format.number(tokens)}>{t.session.tokens(format.compact(tokens))}</span>
      {usage.usd === null || usage.usd === 0 ? null : <span>{format.usd(usage.usd)}</span>}
    </p>
  );
}
