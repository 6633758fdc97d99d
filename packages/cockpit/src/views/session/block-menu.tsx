// What can be done with a row of the conversation.

import { Ban, CornerUpLeft, Ellipsis, GitFork, Hash, Link as LinkIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { RunId } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import type { Block } from "./conversation.ts";

export type BlockAction =
  | { readonly kind: "link" | "rewind" | "fork"; readonly offset: number }
  | { readonly kind: "run" | "withdraw"; readonly run: RunId };

export interface BlockMenuProps {
  readonly block: Block;
  readonly onAct: (action: BlockAction) => void;
}

export function BlockMenu({ block, onAct }: BlockMenuProps): ReactNode {
  const t = useMessages().session.actions;
  const items = itemsFor(block, onAct, t);
  if (items.length === 0) return null;
  return (
    <span className="block-menu">
      <Menu
        trigger={
          <Button look="ghost" size="s" icon aria-label={t.more} title={t.more}>
            <Ellipsis aria-hidden />
          </Button>
        }
        groups={[{ items }]}
      />
    </span>
  );
}

function itemsFor(
  block: Block,
  onAct: (action: BlockAction) => void,
  t: ReturnType<typeof useMessages>["session"]["actions"],
): readonly MenuItem[] {
  const run = (id: RunId): MenuItem => ({
    label: t.run,
    icon: <Hash aria-hidden />,
    onSelect: () => onAct({ kind: "run", run: id }),
  });
  const link = (offset: number): MenuItem => ({
    label: t.copyLink,
    icon: <LinkIcon aria-hidden />,
    onSelect: () => onAct({ kind: "link", offset }),
  });
  const fork = (offset: number): MenuItem => ({
    label: t.forkHere,
    icon: <GitFork aria-hidden />,
    onSelect: () => onAct({ kind: "fork", offset }),
  });
  switch (block.kind) {
    case "message": {
      const { offset } = block;
      const rewind = {
        label: t.rewindHere,
        icon: <CornerUpLeft aria-hidden />,
        onSelect: () => onAct({ kind: "rewind", offset }),
      };
      return [run(block.message.id), link(offset), fork(offset), ...(block.isHidden ? [] : [rewind])];
    }
    case "pending": {
      const { runId } = block.message;
      const withdraw = {
        label: t.withdraw,
        icon: <Ban aria-hidden />,
        isDanger: true,
        onSelect: () => onAct({ kind: "withdraw", run: runId }),
      };
      return [run(runId), withdraw];
    }
    case "answer":
      return block.offset === null ? [] : [link(block.offset), fork(block.offset + 1)];
    case "compaction":
    case "restart":
    case "turn-end":
    case "unknown":
      return [];
  }
}
