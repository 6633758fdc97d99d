// Bootstrap
// =========
// What `npm start`, `npm test` and the other root scripts run. It must work on a clean clone and on an older Node, so
// it is plain JavaScript without dependencies: it installs what the lock says, then hands over to Node 24, which the
// npm package `node` puts into node_modules.
//
// B1. Dependencies are installed only if node_modules was not made from the present package-lock.json.
// B2. Of two bootstraps at once one installs and the other waits.
// B3. Nothing is printed after the last task ends: `npm test` ends with the summary line of its reporter.
// B4. Our exit code is the task's, and SIGINT, SIGTERM and SIGHUP reach it. (The scripts in package.json say `exec`,
//     because npm passes a signal on to the shell that it starts, and most shells keep it to themselves.)
// B5. If npm itself is killed, the task ends: it does not go on unseen, holding its ports.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const WINDOWS = process.platform === "win32";
const NODE_MAJOR_MIN = 24;
const PROGRESS_EVERY_MS = 3_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** npm passes on what the whole process group got, too: signals this close together are one. */
const SAME_SIGNAL_MS = 500;
const PARENT_CHECK_EVERY_MS = 1_000;

const say = (text) => console.log(`perdure: ${text}`);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A failure that we can explain: the message is for a person, without a stack. */
class Explained extends Error {}

// Running things
// --------------

/** Environment in which `node` and every tool are those of node_modules. */
function localEnvironment(extra = {}) {
  const path = [join(ROOT, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  return { ...process.env, PATH: path, ...extra };
}

/** Environment as it was before npm put node_modules/.bin in front: npm itself must not run from what it replaces. */
function systemEnvironment() {
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes(`node_modules${sep}.bin`));
  const env = Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_local_prefix|package|lifecycle)/i.test(name),
  );
  return { ...Object.fromEntries(env), PATH: path.join(delimiter) };
}

/** Runs a program to its end and gives its exit code. */
function run(command, args, { cwd = ROOT, env = localEnvironment() } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: "inherit" });
    const seen = new Map();
    const forward = (signal) => {
      if (signal === "SIGINT" && process.stdin.isTTY) return; // The terminal's Ctrl-C goes to the child by itself.
      const before = seen.get(signal) ?? 0;
      seen.set(signal, Date.now());
      if (Date.now() - before > SAME_SIGNAL_MS) child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const watch = whenNpmIsGone(() => forward("SIGTERM"));
    const settle = (finish) => {
      clearInterval(watch);
      for (const signal of SIGNALS) process.off(signal, forward);
      finish();
    };
    child.on("error", (error) => settle(() => reject(error)));
    child.on("exit", (code, signal) => settle(() => resolve(code ?? 128 + (constants.signals[signal] ?? 1))));
  });
}

/** B5. Only under npm: whoever starts this file directly may well leave it running alone. */
function whenNpmIsGone(then) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, PARENT_CHECK_EVERY_MS);
  return watch;
}

/** Runs a program silently, with a line every few seconds, and gives its exit code and what it printed. */
function runQuietly(command, args, { cwd, env, waiting }) {
  const since = Date.now();
  const progress = setInterval(() => say(`${waiting}, ${seconds(since)}`), PROGRESS_EVERY_MS);
  return new Promise((resolve, reject) => {
    const output = [];
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], shell: WINDOWS });
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => output.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString() }));
  }).finally(() => clearInterval(progress));
}

// Installing
// ----------

const lockHash = (folder) =>
  createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
const stampFile = (folder) => join(folder, "node_modules", ".perdure-lock-hash");

function isInstalled(folder) {
  const stamp = stampFile(folder);
  return existsSync(stamp) && readFileSync(stamp, "utf8").trim() === lockHash(folder);
}

/** How npm is called: the very one that called us where there is one, else the one on the PATH. */
function npmCommand(args) {
  const cli = process.env.npm_execpath;
  const node = process.env.npm_node_execpath;
  const usable = cli && cli.endsWith("npm-cli.js") && existsSync(cli) && node && existsSync(node);
  return usable && !node.startsWith(join(ROOT, "node_modules") + sep) ? [node, [cli, ...args]] : ["npm", args];
}

/** Known reasons for which npm fails, by its own error codes, and what a person can do about each. */
const INSTALL_HINTS = [
  [
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/,
    "The npm registry could not be reached. Check the network, the proxy and `npm config get registry`, then try again.",
  ],
  [
    /\b(ETARGET|E404|ENOVERSIONS)\b/,
    "Your npm registry does not have one of the pinned versions (the line above names it).",
  ],
  [/\b(E401|E403)\b/, "Your npm registry refused the download: check the credentials in your .npmrc."],
  [/\bENOSPC\b/, "The disk is full: the installed packages need about 600 MB."],
  [
    /\b(EACCES|EPERM|EROFS)\b/,
    "npm may not write here: check who owns this folder and npm's cache (`npm config get cache`).",
  ],
  [/\bEUSAGE\b/, "package.json and package-lock.json disagree: run `npm install` and commit the lock."],
];

function explainInstall(folder, code, output) {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !line.includes("EBADENGINE"));
  const hint = INSTALL_HINTS.find(([pattern]) => pattern.test(output))?.[1] ?? "The lines above are npm's own.";
  return new Explained(
    `installing the dependencies failed: \`npm ci\` in ${folder} ended with code ${code}.\n\n` +
      `${lines
        .slice(-15)
        .map((line) => `    ${line}`)
        .join("\n")}\n\n${hint}\nNothing was started.`,
  );
}

/** Runs `work` while this process holds the folder's install lock; a lock whose owner is gone is taken over. */
async function holdingInstallLock(folder, work) {
  const lock = join(folder, ".perdure-install.lock");
  for (let waits = 0; !tryLock(lock); waits += 1) {
    if (waits === 0) say("another process is installing the dependencies, waiting for it");
    await pause(500);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!ownerIsAlive(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function ownerIsAlive(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM"; // Somebody else's process: it lives. Otherwise it, or its lock, is gone.
  }
}

async function install(folder, what) {
  if (isInstalled(folder)) return;
  await holdingInstallLock(folder, async () => {
    if (isInstalled(folder)) return; // The one we waited for did it.
    say(`installing ${what} (once; usually well under a minute)`);
    const since = Date.now();
    const [command, args] = npmCommand(["ci", "--no-audit", "--no-fund"]);
    const options = { cwd: folder, env: systemEnvironment(), waiting: "still installing" };
    const { code, output } = await runQuietly(command, args, options).catch((error) => {
      throw new Explained(`npm could not be run (${error.message}). Install Node.js with npm and try again.`);
    });
    if (code !== 0) throw explainInstall(folder, code, output);
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    writeFileSync(stampFile(folder), `${lockHash(folder)}\n`);
    say(`installed in ${seconds(since)}`);
  });
}

/** The Node that everything runs on: the pinned one of node_modules, else ours if it is new enough. */
function findNode() {
  const pinned = join(ROOT, "node_modules", "node", "bin", WINDOWS ? "node.exe" : "node");
  for (const candidate of [pinned, process.execPath]) {
    if (!existsSync(candidate)) continue;
    const { status, stdout } = spawnSync(candidate, ["-p", "process.versions.node"], { encoding: "utf8" });
    if (status === 0 && Number.parseInt(stdout, 10) >= NODE_MAJOR_MIN) return candidate;
  }
  throw new Explained(
    `Perdure needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}, and the npm package \`node\` brought none.\n` +
      "Are npm's install scripts switched off (`npm config get ignore-scripts`)? `npm rebuild node` runs the one that is\n" +
      `needed. Or install Node ${NODE_MAJOR_MIN} and try again.`,
  );
}

// Tasks
// -----

const tool = (...path) => join(ROOT, "node_modules", ...path);
const TSC = tool("typescript", "bin", "tsc");
const OXLINT = tool("oxlint", "bin", "oxlint");
const BIOME = tool("@biomejs", "biome", "bin", "biome");
const KNIP = tool("knip", "bin", "knip.js");
const VITEST = tool("vitest", "vitest.mjs");
const COCKPIT = join("tools", "build-cockpit.mjs");

async function build(node) {
  const since = Date.now();
  say("building (tsc -b, and the cockpit where it changed)");
  const codes = await Promise.all([run(node, [TSC, "-b"]), run(node, [COCKPIT])]);
  const code = Math.max(...codes);
  say(code === 0 ? `built in ${seconds(since)}` : `the build failed after ${seconds(since)}`);
  return code;
}

/** Runs each check even if an earlier one failed, and gives the number of those that did. */
async function runChecks(node, checks) {
  let failed = 0;
  for (const [name, args] of checks) {
    const since = Date.now();
    say(`${name} …`);
    const code = await run(node, args);
    say(`${name}: ${code === 0 ? "ok" : "FAILED"}, ${seconds(since)}`);
    if (code > 128) process.exit(code); // Interrupted: what follows is not wanted either.
    if (code !== 0) failed += 1;
  }
  return failed;
}

const TEST_CHECKS = [
  ["types of the sources", [TSC, "-b"]],
  ["types of the tests", [TSC, "-p", "tsconfig.test.json"]],
  ["types of the cockpit", [TSC, "-p", join("packages", "cockpit")]],
  ["lint", [OXLINT, "--type-aware", "--quiet"]],
];

const MORE_CHECKS = [
  ["format", [BIOME, "format", "."]],
  ["unused and undeclared", [KNIP, "--no-config-hints"]],
];

const tasks = {
  async start(node, args) {
    const built = await build(node);
    if (built !== 0) return built;
    const command = [join("packages", "perdure", "bin", "perdure.mjs"), "start", "examples/research/src/main.ts"];
    const { env, rest } = exampleOptions(args);
    return run(node, [...command, ...rest], { env: localEnvironment(env) });
  },

  /** A failed check does not hide the tests: the reporter counts it as one failure, so the last line tells all. */
  async test(node, args) {
    const failed = await runChecks(node, TEST_CHECKS);
    const env = localEnvironment({ PERDURE_FAILED_CHECKS: String(failed) });
    const code = await run(node, [VITEST, "run", ...args], { env });
    return code === 0 && failed > 0 ? 1 : code;
  },

  async bench(node, args) {
    await install(join(ROOT, "bench"), "what the benchmarks compare with");
    const built = await build(node);
    return built === 0 ? run(node, [join("bench", "src", "run.ts"), ...args]) : built;
  },

  build: (node) => build(node),

  sim: (node, args) => run(node, ["--conditions=perdure-source", join("packages", "sim", "src", "main.ts"), ...args]),

  check: async (node) => ((await runChecks(node, [...TEST_CHECKS, ...MORE_CHECKS])) === 0 ? 0 : 1),

  format: (node, args) => run(node, [BIOME, "format", "--write", ...(args.length > 0 ? args : ["."])]),
};

/** `npm start -- --corpus DIR --inject SPEC`: options of the example, which reads its environment. */
function exampleOptions(args) {
  const variables = { "--corpus": "RESEARCH_CORPUS", "--inject": "RESEARCH_INJECT" };
  const env = {};
  const rest = [];
  for (let i = 0; i < args.length; i += 1) {
    const [flag, inline] = args[i].split(/=(.*)/s, 2);
    const variable = variables[flag];
    if (variable === undefined) {
      rest.push(args[i]);
      continue;
    }
    const value = inline ?? args[(i += 1)];
    if (value === undefined) throw new Explained(`${flag} needs a value.`);
    env[variable] = value;
  }
  return { env, rest };
}

async function main([name, ...args]) {
  const task = Object.hasOwn(tasks, name ?? "") ? tasks[name] : undefined;
  if (task === undefined)
    throw new Explained(`no such task: ${name ?? "(none)"}. There are: ${Object.keys(tasks).join(", ")}.`);
  await install(ROOT, "the dependencies");
  return task(findNode(), args);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(error instanceof Explained ? `perdure: ${error.message}` : error);
    process.exitCode = 1;
  },
);
