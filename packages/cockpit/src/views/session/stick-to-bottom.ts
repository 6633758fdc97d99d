// Keeps a list at its end while it grows, unless the viewer has scrolled up
// ========================================================================
// B1. Only the viewer unpins it, by scrolling up; coming near the end pins it again.
// B2. What is put before the first row moves nothing of what is looked at.

import { useLayoutEffect, useRef, useState, type RefObject } from "react";

const NEAR_PX = 60;

export interface Stick {
  readonly isPinned: boolean;
  readonly onScroll: () => void;
  readonly toBottom: () => void;
  /** To be called before rows are put before the first one. */
  readonly keepPlace: () => void;
}

/** @param content grows within the scroller. @param firstKey names the first row. */
export function useStickToBottom(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  firstKey: string | undefined,
  startsPinned: boolean,
): Stick {
  const [isPinned, setPinned] = useState(startsPinned);
  const pinned = useRef(startsPinned);
  const lastTop = useRef(0);
  const fromEnd = useRef<number | null>(null);
  const pin = (value: boolean): void => {
    pinned.current = value;
    setPinned(value);
  };
  const toBottom = (): void => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = element.scrollHeight;
    pin(true);
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (element === null || inner === null) return undefined;
    const follow = (): void => {
      if (pinned.current) element.scrollTop = element.scrollHeight;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(inner);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, content]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || fromEnd.current === null) return;
    element.scrollTop = element.scrollHeight - fromEnd.current;
    fromEnd.current = null;
  }, [scroller, firstKey]);
  return {
    isPinned,
    toBottom,
    onScroll: () => {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop, scrollHeight, clientHeight } = element;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      if (isNear) pin(true);
      else if (scrollTop < lastTop.current - 1) pin(false);
      lastTop.current = scrollTop;
    },
    keepPlace: () => {
      const element = scroller.current;
      if (element !== null) fromEnd.current = element.scrollHeight - element.scrollTop;
    },
  };
}
