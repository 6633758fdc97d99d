// The part of the line that is seen: from 0 to 1, narrowed by wheel and keys
// ==========================================================================
// Ctrl and the wheel zoom about the pointer, as on a map; shift and the wheel, or a sideways wheel, move along.

import { useEffect, useState, type RefObject } from "react";

export interface Zoom {
  readonly from: number;
  readonly to: number;
}

export const WHOLE: Zoom = { from: 0, to: 1 };
const WIDTH_MIN = 1e-6;
const STEP = 1.6;

export function isWhole({ from, to }: Zoom): boolean {
  return from === 0 && to === 1;
}

/** @param about the place in what is seen, from 0 to 1, that stays where it is. */
export function zoomed({ from, to }: Zoom, factor: number, about: number): Zoom {
  const width = Math.min(1, Math.max(WIDTH_MIN, (to - from) * factor));
  const fixed = from + (to - from) * about;
  return within({ from: fixed - width * about, to: fixed + width * (1 - about) });
}

/** @param by in widths of what is seen. */
export function moved({ from, to }: Zoom, by: number): Zoom {
  const distance = (to - from) * by;
  return within({ from: from + distance, to: to + distance });
}

function within({ from, to }: Zoom): Zoom {
  const width = Math.min(1, to - from);
  const start = Math.min(1 - width, Math.max(0, from));
  return { from: start, to: start + width };
}

export interface ZoomControl {
  readonly zoom: Zoom;
  readonly set: (zoom: Zoom) => void;
  readonly in: () => void;
  readonly out: () => void;
}

export function useZoom(target: RefObject<HTMLElement | null>): ZoomControl {
  const [zoom, setZoom] = useState(WHOLE);
  useEffect(() => {
    const element = target.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const line = element.querySelector(".axis-line")?.getBoundingClientRect();
      if (line === undefined || line.width === 0) return;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const about = Math.min(1, Math.max(0, (event.clientX - line.left) / line.width));
        setZoom((now) => zoomed(now, Math.exp(event.deltaY / 200), about));
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        setZoom((now) => moved(now, sideways / line.width));
      }
    };
    // React listens passively, and a passive listener cannot keep the browser from zooming the page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [target]);
  return {
    zoom,
    set: setZoom,
    in: () => setZoom((now) => zoomed(now, 1 / STEP, 0.5)),
    out: () => setZoom((now) => zoomed(now, STEP, 0.5)),
  };
}
