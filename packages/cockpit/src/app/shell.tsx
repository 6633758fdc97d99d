// The frame around every view: where one can go, whether what is seen is live, the palette, the keys.

import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import { useApprovalWatch, useOpenApprovals } from "../approvals/open-approvals.ts";
import { useFormat, useMessages } from "../i18n/use-messages.ts";
import { useHotkeys, type Binding } from "../keys/use-hotkeys.ts";
import { useLive, useLiveState } from "../live/use-live.ts";
import { Button } from "../ui/button.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { Brand } from "./brand.tsx";
import { chunk } from "./chunks.ts";
import { PAGES } from "./navigation.ts";
import { Preferences } from "./preferences.tsx";
import { toggleTheme } from "./theme.ts";

const Palette = lazy(chunk(() => import("./palette.tsx").then(({ Palette: component }) => ({ default: component }))));
const KeysHelp = lazy(
  chunk(() => import("./keys-help.tsx").then(({ KeysHelp: component }) => ({ default: component }))),
);

type Overlay = "palette" | "keys" | null;

export function Shell(): ReactNode {
  const t = useMessages();
  const [overlay, setOverlay] = useState<Overlay>(null);
  useShellKeys(setOverlay);
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        {t.common.skipToContent}
      </a>
      <Sidebar onFind={() => setOverlay("palette")} />
      <div className="content">
        <Offline />
        <main id="content" tabIndex={-1} data-scroll-restoration-id="content">
          <Outlet />
        </main>
      </div>
      <Suspense fallback={null}>
        {overlay === "palette" ? <Palette onClose={() => setOverlay(null)} /> : null}
        {overlay === "keys" ? <KeysHelp onClose={() => setOverlay(null)} /> : null}
      </Suspense>
      <Toasts />
    </div>
  );
}

function useShellKeys(open: (overlay: Overlay) => void): void {
  const t = useMessages().common;
  const navigate = useNavigate();
  const pages: readonly Binding[] = PAGES.map(({ to, name, key }) => ({
    keys: `g ${key}`,
    label: t.keys.goTo(t.nav[name]),
    run: () => void navigate({ to }),
  }));
  useHotkeys(
    [
      { keys: "mod+k", label: t.keys.palette, run: () => open("palette") },
      { keys: "?", label: t.keys.help, run: () => open("keys") },
      { keys: "T", label: t.keys.toggleTheme, run: toggleTheme },
      ...pages,
    ],
    "anywhere",
  );
}

function Sidebar({ onFind }: { readonly onFind: () => void }): ReactNode {
  const t = useMessages().common;
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setOpen(false), [pathname]);
  return (
    <>
      <header className="topbar">
        <Button look="ghost" icon aria-label={t.openMenu} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <MenuIcon aria-hidden />
        </Button>
        <Brand />
      </header>
      <aside className="sidebar" data-open={isOpen || undefined}>
        <Link to="/" className="brand">
          <Brand />
        </Link>
        <button type="button" className="find" onClick={onFind}>
          <Search aria-hidden />
          <span>{t.search}</span>
          <kbd>{isApple() ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <nav className="nav" aria-label={t.openMenu}>
          {PAGES.map(({ to, name, icon: Icon }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === "/", includeSearch: false }}>
              <Icon aria-hidden />
              {t.nav[name]}
              {name === "approvals" ? <OpenCount /> : null}
            </Link>
          ))}
        </nav>
        <div className="sidebar-foot">
          <LiveMark />
          <Preferences />
        </div>
      </aside>
    </>
  );
}

/** How many questions are open. */
function OpenCount(): ReactNode {
  const t = useMessages().approvals;
  const format = useFormat();
  useApprovalWatch();
  const { data } = useOpenApprovals();
  if (data === undefined || data.length === 0) return null;
  return (
    <span className="count" title={t.count(data.length)}>
      {format.number(data.length)}
    </span>
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

const LIVE_TONES = { live: "green", connecting: "grey", reconnecting: "amber", refused: "grey" } as const;

function LiveMark(): ReactNode {
  const t = useMessages().common.live;
  const { kind } = useLiveState();
  return (
    <span className="live-mark" data-tone={LIVE_TONES[kind]} title={kind === "live" ? t.liveHelp : t.reconnectingHelp}>
      {t[kind]}
    </span>
  );
}

/** Said where it cannot be overlooked: what is on the page may be old. */
function Offline(): ReactNode {
  const t = useMessages().common.live;
  const { stream } = useLive();
  const { kind } = useLiveState();
  if (kind !== "reconnecting") return null;
  return (
    <div className="offline" role="status">
      {t.reconnecting}
      <span>{t.reconnectingHelp}</span>
      <Button size="s" onClick={() => stream.retryNow()}>
        {t.retryNow}
      </Button>
    </div>
  );
}
