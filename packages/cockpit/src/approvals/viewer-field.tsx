import { useId, useState, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { rememberViewer, viewerName } from "./viewer-name.ts";

export interface ViewerField {
  readonly name: string;
  readonly field: ReactNode;
  /** To be called when it is acted upon. */
  readonly remember: () => void;
}

/** @param names that may be said; null: any. */
export function useViewerField(names: readonly string[] | null = null): ViewerField {
  const t = useMessages().approvals;
  const id = useId();
  const [name, setName] = useState(() => firstName(names));
  const isStrange = names !== null && names.length > 0 && name !== "" && !names.includes(name.trim());
  const field = (
    <div className="field">
      <label htmlFor={id}>{t.you}</label>
      <input
        id={id}
        className="input"
        autoComplete="username"
        maxLength={200}
        required
        list={`${id}-names`}
        value={name}
        aria-invalid={isStrange}
        aria-describedby={`${id}-help`}
        onChange={(event) => setName(event.target.value)}
      />
      <datalist id={`${id}-names`}>
        {(names ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <p id={`${id}-help`} className="help" data-tone={isStrange ? "orange" : undefined}>
        {isStrange ? t.notAmong(names.map(visibleLine).join(", ")) : t.youHelp}
      </p>
    </div>
  );
  return { name: name.trim(), field, remember: () => rememberViewer(name.trim()) };
}

function firstName(names: readonly string[] | null): string {
  const known = viewerName.get();
  return known === "" && names?.length === 1 ? (names[0] ?? "") : known;
}
