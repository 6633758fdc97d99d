import { useSyncExternalStore, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import type { Hotkey } from "../keys/hotkeys.ts";
import { hotkeys } from "../keys/use-hotkeys.ts";
import { Dialog } from "../ui/dialog.tsx";

/** All keys that do something now, as the views have said. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useMessages().common.keys;
  const all = useSyncExternalStore(hotkeys.subscribe, hotkeys.layers).flatMap((layer) => layer.hotkeys);
  return (
    <Dialog isOpen onClose={onClose} title={t.title} wide>
      <div className="keys-help">
        <KeyList title={t.here} keys={all.filter(({ group }) => group === "here")} />
        <KeyList title={t.anywhere} keys={all.filter(({ group }) => group === "anywhere")} />
      </div>
    </Dialog>
  );
}

function KeyList({ title, keys }: { readonly title: string; readonly keys: readonly Hotkey[] }): ReactNode {
  if (keys.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {keys.map(({ keys: text, label }) => (
          <li key={text}>
            <span>{label}</span>
            <span>
              {text.split(" ").map((key) => (
                <kbd key={key}>{key.replace("mod+", "Ctrl/⌘ ")}</kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
