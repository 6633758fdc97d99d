import { serve } from "perdure";
import * as main from "./src/main.ts";
const s = await serve({ definitions: [main.research, main.researcher, main.writer], data: process.env.D!, ingress: { port: 18080 }, admin: { port: 19070 } });
console.log(s.ingressUrl, s.adminUrl);
