// The page that the README shows, run as it stands there.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID, webcrypto } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { enumValue, setting, startServer } from "./server.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const README = readFileSync(join(ROOT, "README.md"), "utf8");

// Makes the stubs, by the README's own words.
function generate(folder) {
  const [, template] = /buf generate proto --template '(.*)'/.exec(README);
  const PATH = join(HERE, "node_modules", ".bin") + delimiter + process.env.PATH;
  const words = ["generate", join(ROOT, "proto"), "--template", template, "--output", folder];
  execFileSync(setting("PARLOR_BUF"), words, { env: { ...process.env, PATH } });
}

test("the page of the README plays a whole match at the rates of a server", async () => {
  // Below the packages that it imports.
  const folder = mkdtempSync(join(HERE, "node_modules", ".readme-"));
  const server = await startServer("--rate-limits", "on");
  try {
    generate(folder);
    const [, program] = /```js\n(.*?)```/s.exec(README);
    assert.ok(program.includes("http://127.0.0.1:50051"));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    const page = join(folder, "page.js");
    writeFileSync(page, program.replace("http://127.0.0.1:50051", server.baseUrl));

    const open = { kind: enumValue("parlor.v1.SeatKind", "SEAT_KIND_OPEN") };
    const created = await server.matches.createMatch({
      requestId: randomUUID(),
      options: { game: { case: "neon", value: {} } },
      seats: [open, open],
      visibility: enumValue("parlor.v1.Visibility", "VISIBILITY_PUBLIC"),
    });
    const words = ["play", "--server", server.baseUrl, "--join", created.joinCode];
    const rival = spawn(setting("PARLOR_BIN"), words, { stdio: "ignore" });
    const ended = new Promise((resolve) => rival.on("exit", resolve));

    // What a browser has.
    globalThis.prompt = () => created.joinCode;
    globalThis.crypto ??= webcrypto;
    await import(pathToFileURL(page));
    assert.equal(await ended, 0);
    const { match } = await server.matches.getMatch({ matchId: created.match.matchId });
    assert.equal(match.state, enumValue("parlor.v1.MatchState", "MATCH_STATE_OVER"));
  } finally {
    rmSync(folder, { recursive: true });
    assert.equal(await server.stop(), 0);
  }
});
