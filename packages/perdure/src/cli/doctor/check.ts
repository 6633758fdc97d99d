// One thing that `doctor` looked at.

export interface Check {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly do?: string;
}

export const ok = (name: string, message: string): Check => ({ name, status: "ok", message });
export const warn = (name: string, message: string, advice: string): Check => ({
  name,
  status: "warn",
  message,
  do: advice,
});
export const fail = (name: string, message: string, advice: string): Check => ({
  name,
  status: "fail",
  message,
  do: advice,
});
