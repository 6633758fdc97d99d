// A menu behind a button.

import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

export interface MenuItem {
  readonly label: string;
  /** What it means, in a sentence. */
  readonly help?: string;
  readonly icon?: ReactNode;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly isChosen?: boolean;
  readonly onSelect: () => void;
}

interface MenuGroup {
  readonly label?: string;
  readonly items: readonly MenuItem[];
}

export interface MenuProps {
  /** A button. */
  readonly trigger: ReactElement;
  readonly groups: readonly MenuGroup[];
  readonly side?: "top" | "bottom";
}

export function Menu({ trigger, groups, side = "bottom" }: MenuProps): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align="end" sideOffset={4} style={{ zIndex: 30 }}>
          <Base.Popup className="popup">
            {groups.map(({ label, items }, at) => (
              <Base.Group key={label ?? at}>
                {at === 0 ? null : <Base.Separator className="popup-line" />}
                {label === undefined ? null : <Base.GroupLabel className="popup-label">{label}</Base.GroupLabel>}
                {items.map((item) => (
                  <Base.Item
                    key={item.label}
                    className="popup-item"
                    disabled={item.isDisabled ?? false}
                    data-danger={item.isDanger || undefined}
                    aria-current={item.isChosen === true ? "true" : undefined}
                    onClick={item.onSelect}
                  >
                    {item.icon}
                    {item.help === undefined ? (
                      item.label
                    ) : (
                      <span className="popup-text">
                        <b>{item.label}</b>
                        <span className="dim">{item.help}</span>
                      </span>
                    )}
                    {item.isChosen === true ? <span aria-hidden>✓</span> : null}
                  </Base.Item>
                ))}
              </Base.Group>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
