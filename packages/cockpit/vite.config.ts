// How the cockpit is built, and served while one works on it
// ==========================================================
// It lives under /ui/ of the admin listener; everything outside of it is the API. `vite` passes that on to a runtime that
// runs already (PERDURE_ADMIN, http://127.0.0.1:9070 where nobody says otherwise).

import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig, type UserConfig } from "vite";

const config: UserConfig = defineConfig({
  base: "/ui/",
  plugins: [react()],
  resolve: { conditions: ["perdure-source", ...defaultClientConditions] },
  build: {
    target: "es2023",
    // The page's policy knows no `data:` but images, and an inlined asset cannot be cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    port: 5173,
    proxy: {
      "^/(?!ui(?:/|$))": { target: process.env["PERDURE_ADMIN"] ?? "http://127.0.0.1:9070" },
    },
  },
});

export default config;
