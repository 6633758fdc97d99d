// Punycode (RFC 3492): a label of a domain in ASCII.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;

export function punycode(label: string): string {
  const codes = Array.from(label, (character) => character.codePointAt(0) ?? 0);
  const basic = codes.filter((code) => code < FIRST_CODE);
  let output = String.fromCodePoint(...basic) + (basic.length > 0 ? "-" : "");
  let [next, delta, bias, handled] = [FIRST_CODE, 0, FIRST_BIAS, basic.length];
  while (handled < codes.length) {
    const code = Math.min(...codes.filter((one) => one >= next));
    delta += (code - next) * (handled + 1);
    next = code;
    for (const one of codes) {
      if (one < next) delta += 1;
      if (one !== next) continue;
      output += variableLength(delta, bias);
      bias = adapted(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    next += 1;
  }
  return output;
}

function variableLength(delta: number, bias: number): string {
  let digits = "";
  let rest = delta;
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (rest < threshold) return digits + digit(rest);
    digits += digit(threshold + ((rest - threshold) % (BASE - threshold)));
    rest = Math.floor((rest - threshold) / (BASE - threshold));
  }
}

/** `a` to `z`, then `0` to `9`. */
const digit = (value: number): string => String.fromCharCode(value < 26 ? 0x61 + value : 0x30 + value - 26);

function adapted(delta: number, points: number, isFirst: boolean): number {
  let rest = isFirst ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / points);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
