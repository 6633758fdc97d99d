// No authentication: it listens on the loopback address alone.

import { eveChannel } from "eve/channels/eve";
import { none } from "eve/channels/auth";

export default eveChannel({ auth: none() });
