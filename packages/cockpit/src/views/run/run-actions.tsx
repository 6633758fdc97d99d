// What can be done with a run, as its status allows. Each is asked once more, with the command line that does the same.

import { Ban, CircleX, CornerUpLeft, Ellipsis, GitFork, Pause, Play, RotateCcw, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { isFinished, type ActionAnswer, type RunStatus, type RunSummary } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { say, sayFailure } from "../../ui/toasts.tsx";
import type { BranchAct } from "./run-search.ts";

type Action = "cancel" | "kill" | "pause" | "resume" | "restart" | "purge";

const ICONS: Readonly<Record<Action, ReactNode>> = {
  cancel: <Ban aria-hidden />,
  kill: <CircleX aria-hidden />,
  pause: <Pause aria-hidden />,
  resume: <Play aria-hidden />,
  restart: <RotateCcw aria-hidden />,
  purge: <Trash2 aria-hidden />,
};

/** The first stands beside the title, the others in the menu. */
function actionsFor(status: RunStatus): readonly Action[] {
  switch (status) {
    case "running":
    case "suspended":
      return ["pause", "cancel", "kill"];
    case "retrying":
      return ["resume", "pause", "cancel", "restart", "kill"];
    case "scheduled":
    case "queued":
      return ["cancel", "kill"];
    case "paused":
      return ["resume", "restart", "cancel", "kill"];
    case "succeeded":
    case "failed":
    case "cancelled":
    case "killed":
      return ["restart", "purge"];
  }
}

export interface RunActionsProps {
  readonly run: RunSummary;
  readonly onAct: (act: BranchAct) => void;
}

export function RunActions({ run, onAct }: RunActionsProps): ReactNode {
  const t = useMessages().run.actions;
  const branches = useBranchItems(run, onAct);
  const [asked, setAsked] = useState<Action | null>(null);
  const [first, ...others] = actionsFor(run.status);
  const items = others.map(
    (action): MenuItem => ({
      label: t[action],
      icon: ICONS[action],
      isDanger: action === "kill" || action === "purge",
      onSelect: () => setAsked(action),
    }),
  );
  return (
    <>
      <CommandLine command={`npx perdure show ${run.id}`} />
      {first === undefined ? null : (
        <Button look={run.status === "paused" ? "primary" : "plain"} onClick={() => setAsked(first)}>
          {ICONS[first]}
          {t[first]}
        </Button>
      )}
      <Menu
        trigger={
          <Button icon aria-label={t.more} title={t.more}>
            <Ellipsis aria-hidden />
          </Button>
        }
        groups={[{ items: branches }, { items }]}
      />
      {asked === null ? null : <ActionDialog run={run} action={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

/** A run that has not begun has nothing to go back to. */
function useBranchItems({ status }: RunSummary, onAct: (act: BranchAct) => void): readonly MenuItem[] {
  const t = useMessages().branches;
  const canRewind = status !== "scheduled" && status !== "queued";
  useHotkeys([
    { keys: "f", label: t.fork, run: () => onAct("fork") },
    ...(canRewind ? [{ keys: "w", label: t.rewind, run: () => onAct("rewind") }] : []),
  ]);
  return [
    { label: t.fork, icon: <GitFork aria-hidden />, onSelect: () => onAct("fork") },
    { label: t.rewind, icon: <CornerUpLeft aria-hidden />, isDisabled: !canRewind, onSelect: () => onAct("rewind") },
  ];
}

export interface ActionDialogProps {
  readonly run: Pick<RunSummary, "id" | "status">;
  readonly action: Action;
  /** Of a restart: the first entry that is forgotten. */
  readonly from?: number;
  readonly onClose: () => void;
}

export function ActionDialog({ run, action, from, onClose }: ActionDialogProps): ReactNode {
  const t = useMessages();
  const api = useApi();
  const [isBusy, setBusy] = useState(false);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.post<ActionAnswer>(path`/runs/${run.id}/` + action, from === undefined ? undefined : { from });
      say(t.run.actions.done(t.run.actions[action]));
      onClose();
    } catch (error) {
      sayFailure(error);
      setBusy(false);
    }
  };
  const consequence = from === undefined ? t.run.consequence[action] : t.run.consequence.restartFrom(String(from));
  const isDangerous = action === "kill" || action === "purge" || (action === "restart" && isFinished(run.status));
  return (
    <Dialog isOpen onClose={onClose} title={t.run.confirm[action]}>
      <p>{consequence}</p>
      <div className="field">
        <span className="label dim">{t.run.asCommand}</span>
        <CommandLine command={`npx perdure ${action} ${run.id}${action === "restart" ? ` --from ${from ?? 1}` : ""}`} />
      </div>
      <div className="actions">
        <Button onClick={onClose}>{t.common.close}</Button>
        <Button look={isDangerous ? "danger" : "primary"} disabled={isBusy} onClick={() => void act()}>
          {ICONS[action]}
          {t.run.actions[action]}
        </Button>
      </div>
    </Dialog>
  );
}
