// Values as texts that a person can read, much as Node writes them.

const DEPTH_MAX = 2;
const ITEMS_MAX = 100;
const LINE_LENGTH_MAX = 72;
const STRING_CHARS_MAX = 10_000;
const KEY = /^[A-Za-z_$][\w$]*$/;

/** The arguments of console.log: the first may be a format. */
export function format(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== "string") return values.map(shown).join(" ");
  let used = 0;
  const text = first.replace(/%[sdifjoOc%]/g, (spec) => {
    if (spec === "%%") return rest.length === 0 ? "%%" : "%";
    if (used >= rest.length) return spec;
    used += 1;
    return formatted(spec, rest[used - 1]);
  });
  return [text, ...rest.slice(used).map(shown)].join(" ");
}

const shown = (value: unknown): string => (typeof value === "string" ? value : inspect(value));

function formatted(spec: string, value: unknown): string {
  switch (spec) {
    case "%s":
      return typeof value === "bigint"
        ? `${value}n`
        : typeof value === "object" && value !== null
          ? inspect(value)
          : String(value);
    case "%d":
      return typeof value === "bigint" ? `${value}n` : String(typeof value === "symbol" ? Number.NaN : Number(value));
    case "%i":
      return typeof value === "bigint"
        ? `${value}n`
        : String(typeof value === "symbol" ? Number.NaN : Number.parseInt(String(value), 10));
    case "%f":
      return String(typeof value === "symbol" ? Number.NaN : Number.parseFloat(String(value)));
    case "%j":
      return json(value);
    case "%c":
      return "";
    default:
      return inspect(value, { depth: 4 });
  }
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "undefined";
  } catch {
    return "[Circular]"; // The one reason that is left to a value that came this far.
  }
}

export function inspect(value: unknown, { depth = DEPTH_MAX }: { readonly depth?: number } = {}): string {
  return write(value, { depth, above: [], indent: 0 });
}

interface Place {
  /** How many levels further down are shown. */
  readonly depth: number;
  readonly above: readonly object[];
  readonly indent: number;
}

function write(value: unknown, place: Place): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "bigint":
      return `${value}n`;
    case "symbol":
      return value.toString();
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "function":
    case "object":
      return value === null ? "null" : writeObject(value, place);
    default:
      return String(value);
  }
}

function quoted(text: string): string {
  const cut = text.length > STRING_CHARS_MAX ? text.slice(0, STRING_CHARS_MAX) : text;
  const more = text.length - cut.length;
  const quote = !cut.includes("'") ? "'" : !cut.includes('"') ? '"' : cut.includes("`") ? "'" : "`";
  const escaped = JSON.stringify(cut).slice(1, -1).replaceAll('\\"', '"');
  const body = quote === "'" ? escaped.replaceAll("'", "\\'") : escaped;
  return `${quote}${body}${quote}${more > 0 ? `... ${more} more characters` : ""}`;
}

function writeObject(value: object, place: Place): string {
  if (place.above.includes(value)) return "[Circular]";
  try {
    return leaf(value, place) ?? container(value, place);
  } catch (error) {
    return `[not to be shown: ${error instanceof Error ? error.message : String(error)}]`; // A proxy, a getter.
  }
}

/** What is written as one word, where it has no fields of its own. */
function leaf(value: object, place: Place): string | undefined {
  const word = wordOf(value, place);
  if (word === undefined || Object.keys(value).length === 0) return word;
  return value instanceof Number || value instanceof String ? word : `${word} ${fields(value, place)}`;
}

function wordOf(value: object, place: Place): string | undefined {
  if (typeof value === "function") return functionWord(value as (...args: never) => unknown);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return errorText(value, place);
  if (value instanceof Number || value instanceof Boolean || value instanceof String)
    return `[${value.constructor.name}: ${write(value.valueOf(), place)}]`;
  return undefined;
}

function functionWord(value: (...args: never) => unknown): string {
  const isClass = Function.prototype.toString.call(value).startsWith("class");
  const base = isClass ? (Object.getPrototypeOf(value) as { readonly name?: string }).name : "";
  if (isClass) return `[class ${value.name || "(anonymous)"}${base ? ` extends ${base}` : ""}]`;
  const kind = value.constructor.name === "Function" ? "Function" : value.constructor.name;
  return value.name === "" ? `[${kind} (anonymous)]` : `[${kind}: ${value.name}]`;
}

/** The engine's stacks do not say what was thrown: that goes before. */
function errorText(error: Error, place: Place): string {
  const head = error.message === "" ? error.name : `${error.name}: ${error.message}`;
  const stack = String(error.stack ?? "").trimEnd();
  const text = stack === "" ? `[${head}]` : stack.startsWith(head) ? stack : `${head}\n${stack}`;
  const causes = [
    ...(Object.hasOwn(error, "cause") ? [`[cause]: ${write(error.cause, below(error, place))}`] : []),
    ...(error instanceof AggregateError ? [`[errors]: ${write(error.errors, below(error, place))}`] : []),
  ];
  return causes.length === 0
    ? text
    : `${text} {\n${causes.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join("\n")}\n}`;
}

const below = (value: object, { depth, above, indent }: Place): Place => ({
  depth: depth - 1,
  above: [...above, value],
  indent: indent + 2,
});

function container(value: object, place: Place): string {
  const name = nameOf(value);
  if (place.depth < 0) return `[${Array.isArray(value) ? "Array" : name === "" ? "Object" : name}]`;
  if (Array.isArray(value))
    return list(
      arrayItems(value, below(value, place)),
      value,
      place,
      name === "Array" ? "" : `${name}(${value.length}) `,
    );
  if (value instanceof Map) return entries(value, place, `${name}(${value.size}) `);
  if (value instanceof Set) {
    const items = [...value].slice(0, ITEMS_MAX).map((item) => write(item, below(value, place)));
    return `${name}(${value.size}) ${braces([...items, ...moreItems(value.size)], place)}`;
  }
  if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const items = [...(value as Uint8Array).subarray(0, ITEMS_MAX)].map((item) => write(item, place));
    return `${name}(${(value as Uint8Array).length}) ${brackets([...items, ...moreItems((value as Uint8Array).length)], place)}`;
  }
  const prefix = name === "" ? "[Object: null prototype] " : name === "Object" ? "" : `${name} `;
  return `${prefix}${fields(value, place)}`;
}

function nameOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null;
  const name = prototype?.constructor?.name;
  return typeof name === "string" ? name : "";
}

function entries(value: Map<unknown, unknown>, place: Place, prefix: string): string {
  const inside = below(value, place);
  const items = [...value].slice(0, ITEMS_MAX).map(([key, item]) => `${write(key, inside)} => ${write(item, inside)}`);
  return `${prefix}${braces([...items, ...moreItems(value.size)], place)}`;
}

function moreItems(size: number): readonly string[] {
  const more = size - ITEMS_MAX;
  return more > 0 ? [`... ${more} more item${more === 1 ? "" : "s"}`] : [];
}

function arrayItems(array: readonly unknown[], inside: Place): readonly string[] {
  const items: string[] = [];
  let holes = 0;
  const endHoles = (): void => {
    if (holes > 0) items.push(`<${holes} empty item${holes === 1 ? "" : "s"}>`);
    holes = 0;
  };
  for (let at = 0; at < Math.min(array.length, ITEMS_MAX); at += 1) {
    if (!Object.hasOwn(array, at)) holes += 1;
    else {
      endHoles();
      items.push(write(array[at], inside));
    }
  }
  endHoles();
  return [...items, ...moreItems(array.length)];
}

function list(items: readonly string[], value: object, place: Place, prefix: string): string {
  const extra = Object.keys(value).filter((key) => !/^\d+$/.test(key));
  return `${prefix}${brackets([...items, ...extra.map((key) => field(value, key, place))], place)}`;
}

function fields(value: object, place: Place): string {
  const symbols = Object.getOwnPropertySymbols(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key),
  );
  return braces(
    [...Object.keys(value), ...symbols].map((key) => field(value, key, place)),
    place,
  );
}

function field(value: object, key: string | symbol, place: Place): string {
  const name = typeof key === "symbol" ? key.toString() : KEY.test(key) ? key : quoted(key);
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property?.get !== undefined) return `${name}: ${property.set === undefined ? "[Getter]" : "[Getter/Setter]"}`;
  return `${name}: ${property?.set === undefined ? write(property?.value, below(value, place)) : "[Setter]"}`;
}

const braces = (items: readonly string[], place: Place): string =>
  items.length === 0 ? "{}" : wrapped("{", items, "}", place);
const brackets = (items: readonly string[], place: Place): string =>
  items.length === 0 ? "[]" : wrapped("[", items, "]", place);

function wrapped(open: string, items: readonly string[], close: string, { indent }: Place): string {
  const length = items.reduce((sum, item) => sum + item.length + 2, indent);
  if (length <= LINE_LENGTH_MAX && !items.some((item) => item.includes("\n")))
    return `${open} ${items.join(", ")} ${close}`;
  const margin = " ".repeat(indent + 2);
  return `${open}\n${items.map((item) => margin + item).join(",\n")}\n${" ".repeat(indent)}${close}`;
}
