// Bundles src/ into src/nafs/report: page.js, page.css and the licences of everything inside page.js.
import { build } from "esbuild";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const target = "../src/nafs/report/";
const common = { bundle: true, minify: true, charset: "ascii", legalComments: "none", logLevel: "warning" };
const { metafile } = await build({
  ...common, entryPoints: ["src/main.js"], outfile: target + "page.js", format: "iife", target: "es2022", metafile: true,
});
await build({ ...common, entryPoints: ["src/page.css"], outfile: target + "page.css" });

const bundled = Object.values(metafile.outputs)[0].inputs;
const folders = new Set();
for (const file of Object.keys(bundled)) {
  if (!file.includes("node_modules/") || bundled[file].bytesInOutput === 0) continue;
  let folder = dirname(file);
  while (!(existsSync(join(folder, "package.json")) && JSON.parse(readFileSync(join(folder, "package.json"))).version)) folder = dirname(folder);
  folders.add(folder);
}
const parts = [...folders].sort().map(folder => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json")));
  const text = readdirSync(folder).filter(file => /^(licen[cs]e|copying)/i.test(file)).map(file => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version} (${license})\n\n${text.join("\n\n")}`.trim();
});
writeFileSync(target + "page-licenses.txt", "page.js contains these packages.\n\n" + parts.join("\n\n" + "-".repeat(80) + "\n\n") + "\n");
