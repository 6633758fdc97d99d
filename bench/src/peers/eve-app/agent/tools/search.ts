// The same tool as the other systems have.

import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "Searches.",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => ({ hits: [`about ${query}`] }),
});
