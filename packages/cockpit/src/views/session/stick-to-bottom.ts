// Keeps a list at its end while it grows, unless the viewer has scrolled up
// ========================================================================
// B1. Only the viewer unpins it, by scrolling up; coming near the end pins it again.
// B2. What is put before the first row moves nothing of what is looked at.

import { useLayoutEffect, useRef, useState } from "react";

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
  scroller: HTMLElement | null,
  content: HTMLElement | null,
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
    if (scroller === null) return;
    scroller.scrollTop = scroller.scrollHeight;
    pin(true);
  };
  useLayoutEffect(() => {
    if (scroller === null || content === null) return undefined;
    const follow = (): void => {
      if (pinned.current) scroller.scrollTop = scroller.scrollHeight;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(content);
    observer.observe(scroller);
    return () => observer.disconnect();
  }, [scroller, content]);
  useLayoutEffect(() => {
    if (scroller === null || fromEnd.current === null) return;
    scroller.scrollTop = scroller.scrollHeight - fromEnd.current;
    fromEnd.current = null;
  }, [scroller, firstKey]);
  return {
    isPinned,
    toBottom,
    onScroll: () => {
      if (scroller === null) return;
      const { scrollTop, scrollHeight, clientHeight } = scroller;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      if (isNear) pin(true);
      else if (scrollTop < lastTop.current - 1) pin(false);
      lastTop.current = scrollTop;
    },
    keepPlace: () => {
      if (scroller !== null) fromEnd.current = scroller.scrollHeight - scroller.scrollTop;
    },
  };
}
