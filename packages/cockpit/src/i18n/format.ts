// Numbers, durations and times as people read them, by Intl, in the viewer's zone.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface Format {
  number(value: number): string;
  /** Of many digits, in short: `12.3K`. */
  compact(value: number): string;
  /** Two units that matter: `12ms`, `1.2s`, `3m 20s`, `8d 3h`. */
  duration(ms: number): string;
  /** `5m ago`, `in 3h`. */
  relative(at: number, now: number): string;
  /** Date and time to the second. */
  dateTime(at: number): string;
  /** Time of day to the minute. */
  time(at: number): string;
  /** Time of day to the millisecond. */
  clock(at: number): string;
  bytes(count: number): string;
  usd(amount: number): string;
  percent(fraction: number): string;
}

const known = new Map<string, Format>();

export function formatFor(locale: string, timeZone?: string): Format {
  const name = `${locale} ${timeZone ?? ""}`;
  const format = known.get(name) ?? createFormat(locale, timeZone);
  known.set(name, format);
  return format;
}

type Unit = "millisecond" | "second" | "minute" | "hour" | "day";

function createFormat(locale: string, timeZone: string | undefined): Format {
  const zone = timeZone === undefined ? {} : { timeZone };
  const number = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  const relative = new Intl.RelativeTimeFormat(locale, { style: "narrow", numeric: "always" });
  const dateTime = new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
    ...zone,
  });
  const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...zone });
  const clock = new Intl.DateTimeFormat(locale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hourCycle: "h23",
    ...zone,
  });
  const units = new Map<string, Intl.NumberFormat>();
  const inUnit = (value: number, unit: Unit, digits = 0): string => {
    const name = `${unit} ${digits}`;
    const options = { style: "unit", unit, unitDisplay: "narrow", maximumFractionDigits: digits } as const;
    const format = units.get(name) ?? new Intl.NumberFormat(locale, options);
    units.set(name, format);
    return format.format(value);
  };
  const pair = (ms: number, large: number, largeUnit: Unit, small: number, smallUnit: Unit): string => {
    const rest = Math.floor((ms % large) / small);
    const first = inUnit(Math.floor(ms / large), largeUnit);
    return rest === 0 ? first : `${first} ${inUnit(rest, smallUnit)}`;
  };
  const duration = (ms: number): string => {
    if (ms < SECOND) return inUnit(Math.max(0, Math.round(ms)), "millisecond");
    if (ms < 10 * SECOND) return inUnit(ms / SECOND, "second", 1);
    if (ms < MINUTE) return inUnit(Math.floor(ms / SECOND), "second");
    if (ms < HOUR) return pair(ms, MINUTE, "minute", SECOND, "second");
    if (ms < DAY) return pair(ms, HOUR, "hour", MINUTE, "minute");
    return pair(ms, DAY, "day", HOUR, "hour");
  };
  return {
    number: (value) => number.format(value),
    compact: (value) => compact.format(value),
    percent: (fraction) => percent.format(fraction),
    duration,
    relative: (at, now) => relative.format(...relativeParts(at - now)),
    dateTime: (at) => dateTime.format(at),
    time: (at) => time.format(at),
    clock: (at) => clock.format(at),
    bytes: (count) => bytesText(count, number),
    usd: (amount) => usdText(locale, amount),
  };
}

function relativeParts(ms: number): [number, Intl.RelativeTimeFormatUnit] {
  const size = Math.abs(ms);
  if (size < MINUTE) return [Math.trunc(ms / SECOND) || (ms > 0 ? 0 : -0), "second"];
  if (size < HOUR) return [Math.trunc(ms / MINUTE), "minute"];
  if (size < DAY) return [Math.trunc(ms / HOUR), "hour"];
  return [Math.trunc(ms / DAY), "day"];
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

function bytesText(count: number, number: Intl.NumberFormat): string {
  let value = count;
  let unit = 0;
  while (value >= 1_024 && unit < BYTE_UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  const rounded = unit === 0 || value >= 10 ? Math.round(value) : Math.round(value * 10) / 10;
  return `${number.format(rounded)} ${BYTE_UNITS[unit]}`;
}

/** Model calls cost fractions of a cent: two digits that matter are shown, however small. */
function usdText(locale: string, amount: number): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.1;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(locale, { style: "currency", currency: "USD", ...digits }).format(amount);
}
