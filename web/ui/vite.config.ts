import { defineConfig } from "vite";

// During `npm run dev` the gateway is asked at its usual address.
const gateway = process.env["TAGFERRY_URL"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  build: {
    target: "es2022",
    // A strict Content-Security-Policy takes no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": { target: gateway, ws: true } } },
});
