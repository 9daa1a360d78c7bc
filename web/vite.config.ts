// Builds the page as classic scripts with relative addresses, so that it also works when opened as a file.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** Browsers refuse module scripts and CORS requests for file:// addresses, so the tags must not ask for either. */
function classicScripts(): Plugin {
  return {
    name: "classic-scripts",
    apply: "build",
    enforce: "post",
    transformIndexHtml: (html) =>
      html.replace(/<script type="module" crossorigin/g, "<script defer").replace(/ crossorigin(?=[ >])/g, ""),
  };
}

export default defineConfig({
  base: "./",
  assetsInclude: ["**/*.gz"],
  plugins: [svelte(), classicScripts()],
  worker: { format: "iife" },
  build: {
    target: "es2022",
    // The WebAssembly module becomes part of the script of the worker: one file less to find, and no request.
    assetsInlineLimit: 16 * 1024 * 1024,
    chunkSizeWarningLimit: 8192,
    modulePreload: false,
    rolldownOptions: {
      output: {
        format: "iife",
        entryFileNames: "page.js",
        assetFileNames: "page[extname]",
      },
    },
  },
  server: { fs: { allow: [".."] } },
});
