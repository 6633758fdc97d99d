// Views: searches with a name. Some are there from the beginning, others are kept in this browser.

import { BookmarkPlus, X } from "lucide-react";
import { useState, useSyncExternalStore, type FormEvent, type ReactNode } from "react";
import { createSignal } from "../../api/signal.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { isEmptySearch, readRunsSearch, type RunsSearch } from "./runs-search.ts";

interface SavedView {
  readonly name: string;
  readonly search: RunsSearch;
}

const STORED_AS = "perdure.views";
const NAME_LENGTH_MAX = 60;

/** What is stored may be of another version, or broken by hand: what cannot be read is no view. */
function readStored(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.flatMap((view: Partial<Record<keyof SavedView, unknown>> | null) =>
      typeof view?.name === "string" && typeof view.search === "object" && view.search !== null
        ? [{ name: view.name, search: readRunsSearch({ ...view.search }) }]
        : [],
    );
  } catch {
    return []; // Not JSON.
  }
}

const saved = createSignal<readonly SavedView[]>(readStored());

function store(views: readonly SavedView[]): void {
  saved.set(views);
  localStorage.setItem(STORED_AS, JSON.stringify(views));
}

export interface SavedViewsProps {
  readonly search: RunsSearch;
  readonly onSearch: (search: RunsSearch) => void;
}

export function SavedViews({ search, onSearch }: SavedViewsProps): ReactNode {
  const t = useMessages().runs.views;
  const own = useSyncExternalStore(saved.subscribe, saved.get);
  const [isSaving, setSaving] = useState(false);
  const given: readonly SavedView[] = [
    { name: t.all, search: {} },
    { name: t.attention, search: { status: "paused,failed" } },
    { name: t.open, search: { status: "scheduled,queued,running,suspended,retrying,paused" } },
    { name: t.failed, search: { status: "failed" } },
  ];
  const isShown = (view: SavedView): boolean => textOf(view.search) === textOf(search);
  const isKnown = [...given, ...own].some(isShown);
  return (
    <div className="views" role="group" aria-label={t.label}>
      {[...given, ...own].map((view) => (
        <span key={view.name}>
          <Button look="ghost" size="s" aria-pressed={isShown(view)} onClick={() => onSearch(view.search)}>
            {view.name}
          </Button>
          {own.includes(view) && isShown(view) ? (
            <Button
              look="ghost"
              size="s"
              icon
              aria-label={t.remove(view.name)}
              onClick={() => store(own.filter((other) => other !== view))}
            >
              <X aria-hidden />
            </Button>
          ) : null}
        </span>
      ))}
      {isKnown || isEmptySearch(search) ? null : (
        <Button look="ghost" size="s" onClick={() => setSaving(true)}>
          <BookmarkPlus aria-hidden />
          {t.save}
        </Button>
      )}
      <SaveDialog
        isOpen={isSaving}
        onClose={() => setSaving(false)}
        onSave={(name) => store([...own.filter((view) => view.name !== name), { name, search }])}
      />
    </div>
  );
}

function textOf(search: RunsSearch): string {
  return JSON.stringify(Object.entries(search).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

interface SaveDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSave: (name: string) => void;
}

function SaveDialog({ isOpen, onClose, onSave }: SaveDialogProps): ReactNode {
  const t = useMessages();
  const [name, setName] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === "") return;
    onSave(name.trim());
    setName("");
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t.runs.views.save}>
      <form className="field" onSubmit={submit}>
        <label htmlFor="view-name">{t.runs.views.name}</label>
        <input
          id="view-name"
          className="input"
          maxLength={NAME_LENGTH_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <p className="help">{t.runs.views.saveHelp}</p>
        <div className="actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" disabled={name.trim() === ""}>
            {t.runs.views.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
