#!/usr/bin/env node
// The command. Plain old JavaScript: it has to run on a Node that is too old, to say so.
//
// What is built (dist) is run. In a checkout that was not built, or under `--conditions=perdure-source`, the sources are run,
// by Node's type stripping; the packages beside this one then resolve to their sources as well.

var NODE_MAJOR_MIN = 24;
var EXIT_NODE_TOO_OLD = 6;
var found = process.versions.node;

function main() {
  return Promise.all([import("node:fs"), import("node:url"), import("node:module")]).then(function (modules) {
    var built = new URL("../dist/cli/process.js", import.meta.url);
    var source = new URL("../src/cli/process.ts", import.meta.url);
    var asked = process.execArgv.some(function (argument, at) {
      return (
        argument === "--conditions=perdure-source" ||
        (argument === "perdure-source" && /^(-C|--conditions)$/.test(process.execArgv[at - 1]))
      );
    });
    if (asked || !modules[0].existsSync(modules[1].fileURLToPath(built))) {
      if (!asked) resolveToSources(modules[2]);
      return import(source.href);
    }
    return import(built.href);
  });
}

/** As `--conditions=perdure-source` would, for this process. */
function resolveToSources(module) {
  module.registerHooks({
    resolve: function (specifier, context, next) {
      return next(specifier, Object.assign({}, context, { conditions: ["perdure-source"].concat(context.conditions) }));
    },
  });
}

if (parseInt(found, 10) < NODE_MAJOR_MIN) {
  console.error(
    "perdure: needs Node " +
      NODE_MAJOR_MIN +
      " or newer, and this is Node " +
      found +
      ": run `npx -p node@" +
      NODE_MAJOR_MIN +
      " perdure " +
      process.argv.slice(2).join(" ") +
      "`, or install a newer one from https://nodejs.org",
  );
  process.exitCode = EXIT_NODE_TOO_OLD;
} else {
  main().then(
    function (cli) {
      return cli.runProcess();
    },
    function (error) {
      console.error(error);
      process.exitCode = 70;
    },
  );
}
