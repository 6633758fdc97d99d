// What a person reads when the runtime starts.

"use host";

import { describeSettings } from "./settings.ts";
import { label, settings } from "./setup.ts";

console.log(describeSettings(settings, label, process.pid));
