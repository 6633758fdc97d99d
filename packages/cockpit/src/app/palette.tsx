// The palette: by a few letters to any page, any recent run, and by a whole id to any run at all.

import { Dialog } from "@base-ui/react/dialog";
import { parseRunId, type AgentSessionsAnswer } from "@perdure/protocol";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Activity, Bot, CornerDownRight, Hash, SunMoon } from "lucide-react";
import { useState, useSyncExternalStore, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { hotkeys } from "../keys/use-hotkeys.ts";
import { isNoise } from "../live/own-services.ts";
import { useLive } from "../live/use-live.ts";
import { targetText } from "../ui/run-link.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { visibleLine } from "../ui/visible-text.ts";
import { useApi } from "./app-context.ts";
import { PAGES } from "./navigation.ts";
import { toggleTheme } from "./theme.ts";

const RECENT_SHOWN = 50;
const SESSIONS_SHOWN = 30;

export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useMessages().common;
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const id = parseRunId(text.trim());
  const go = (action: () => void) => (): void => {
    onClose();
    action();
  };
  const openRun = (run: string) => go(() => void navigate({ to: "/runs/$run", params: { run } }));
  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" aria-label={t.palette.label}>
          <Command label={t.palette.label} loop>
            <Command.Input value={text} onValueChange={setText} placeholder={t.palette.placeholder} autoFocus />
            <Command.List>
              <Command.Empty>{t.palette.empty}</Command.Empty>
              {id === undefined ? null : (
                <Command.Item className="popup-item" value={id} onSelect={openRun(id)}>
                  <Hash aria-hidden />
                  <span className="cut">{t.palette.openRun(id)}</span>
                </Command.Item>
              )}
              <PageActions go={go} />
              <Command.Group heading={t.palette.pages}>
                {PAGES.map(({ to, name, icon: Icon, key }) => (
                  <Command.Item
                    key={to}
                    className="popup-item"
                    value={`${t.nav[name]} ${name}`}
                    onSelect={go(() => void navigate({ to }))}
                  >
                    <Icon aria-hidden />
                    {t.nav[name]}
                    <kbd>g {key}</kbd>
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading={t.palette.actions}>
                <Command.Item className="popup-item" value={t.keys.toggleTheme} onSelect={go(toggleTheme)}>
                  <SunMoon aria-hidden />
                  {t.keys.toggleTheme}
                </Command.Item>
              </Command.Group>
              <Sessions go={go} />
              <RecentRuns open={openRun} />
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Keys that move about are quicker than any list of them. */
const MOVES = new Set(["j", "k", "x", "Enter", "Escape"]);

/** What the page that is open can do: its commands, by their names. */
function PageActions({ go }: { readonly go: (action: () => void) => () => void }): ReactNode {
  const t = useMessages().common;
  const layers = useSyncExternalStore(hotkeys.subscribe, hotkeys.layers);
  const here = layers.flatMap((layer) =>
    layer.hotkeys.filter(({ group, keys }) => group === "here" && !MOVES.has(keys)),
  );
  if (here.length === 0) return null;
  return (
    <Command.Group heading={t.keys.here}>
      {here.map(({ keys, label, run }) => (
        <Command.Item key={`${keys} ${label}`} className="popup-item" value={`${label} ${keys}`} onSelect={go(run)}>
          <CornerDownRight aria-hidden />
          {label}
          <kbd>{keys}</kbd>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Of agents: those that were at work last. */
function Sessions({ go }: { readonly go: (action: () => void) => () => void }): ReactNode {
  const t = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ["agents", "palette"],
    queryFn: async ({ signal }) =>
      (await api.get<AgentSessionsAnswer>("/sessions", { query: { limit: SESSIONS_SHOWN, top: true }, signal }))
        .sessions,
  });
  if (data === undefined || data.length === 0) return null;
  return (
    <Command.Group heading={t.common.palette.sessions}>
      {data.map(({ agent, session, state }) => (
        <Command.Item
          key={`${agent}/${session}`}
          className="popup-item"
          value={`${agent}/${session}`}
          onSelect={go(() => void navigate({ to: "/agents/$agent/$session", params: { agent, session } }))}
        >
          <Bot aria-hidden />
          <span className="cut">{visibleLine(`${agent}/${session}`)}</span>
          <span className="dim">{t.agents.state[state]}</span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

function RecentRuns({ open }: { readonly open: (run: string) => () => void }): ReactNode {
  const t = useMessages().common;
  const recent = useLive()
    .store.recent()
    .filter((run) => !isNoise(run))
    .slice(0, RECENT_SHOWN);
  if (recent.length === 0) return null;
  return (
    <Command.Group heading={t.palette.runs}>
      {recent.map((run) => (
        <Command.Item
          key={run.id}
          className="popup-item"
          value={`${run.id} ${targetText(run)}`}
          onSelect={open(run.id)}
        >
          <Activity aria-hidden />
          <span className="cut">{visibleLine(targetText(run))}</span>
          <StatusBadge status={run.status} />
        </Command.Item>
      ))}
    </Command.Group>
  );
}
