// The real server, as a process of its own on a port that was free.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";

export function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this by tests/run, which sets it`);
  return value;
}

// All messages and services, compiled from the protos by whoever runs the tests.
export const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(setting("PARLOR_DESCRIPTORS"))),
);

// The number of a value of an enum.
export function enumValue(type, name) {
  return registry.getEnum(type).values.find((value) => value.name === name).number;
}

export async function startServer(...flags) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("PARLOR_")),
  );
  // Tests act faster than people.
  env.PARLOR_RATE_LIMITS = "off";
  const server = spawn(
    setting("PARLOR_BIN"),
    ["--listen", "127.0.0.1:0", "--log", "warn", "--drain", "5s", ...flags],
    { env, stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const address = await Promise.race([listening(server), ended.then(() => null)]);
  if (!address) throw new Error("the server did not start");

  const baseUrl = `http://${address}`;
  const transport = createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
  return {
    baseUrl,
    matches: createClient(registry.getService("parlor.v1.MatchService"), transport),
    catalog: createClient(registry.getService("parlor.v1.CatalogService"), transport),
    stop() {
      server.kill("SIGTERM");
      return ended;
    },
  };
}

async function listening(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /listens on (\S+)/.exec(line);
    if (found) {
      server.stdout.resume();
      return found[1];
    }
  }
  return null;
}
