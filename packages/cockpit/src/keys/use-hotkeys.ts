import { useEffect, useEffectEvent } from "react";
import { Hotkeys, type Hotkey } from "./hotkeys.ts";

export const hotkeys: Hotkeys = new Hotkeys();

export type Binding = Omit<Hotkey, "group">;

/** Commands of a view, while it is shown. */
export function useHotkeys(bindings: readonly Binding[], group: Hotkey["group"] = "here"): void {
  const names = bindings.map(({ keys, label }) => `${keys}\u0000${label}`).join("\u0001");
  const run = useEffectEvent((keys: string) => bindings.find((binding) => binding.keys === keys)?.run());
  useEffect(() => {
    const bound = names.split("\u0001").flatMap((name) => {
      const [keys = "", label = ""] = name.split("\u0000");
      return keys === "" ? [] : [{ keys, label, group, run: () => run(keys) }];
    });
    return hotkeys.bind(bound);
  }, [names, group]);
}
