// Which parts of a conversation were opened, or closed, by hand: kept beside the rows, since a row that is out of sight is
// not in the document.

import { createContext, useContext } from "react";

export interface OpenParts {
  readonly isToggled: (id: string) => boolean;
  readonly toggle: (id: string) => void;
}

export const OpenPartsContext = createContext<OpenParts>({ isToggled: () => false, toggle: () => undefined });

export function useOpenPart(id: string): readonly [boolean, () => void] {
  const parts = useContext(OpenPartsContext);
  return [parts.isToggled(id), () => parts.toggle(id)];
}
