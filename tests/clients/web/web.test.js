// What a page in a browser does: gRPC-Web over HTTP/1.1, after asking whether it may.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import { enumValue, registry, startServer } from "./server.js";

const TAKEN = enumValue("parlor.v1.SeatKind", "SEAT_KIND_TAKEN");
const PUBLIC = enumValue("parlor.v1.Visibility", "VISIBILITY_PUBLIC");
const PRIVATE = enumValue("parlor.v1.Visibility", "VISIBILITY_PRIVATE");
const OVER = enumValue("parlor.v1.MatchState", "MATCH_STATE_OVER");
const MATCH_OVER = enumValue("parlor.v1.EndReason", "END_REASON_MATCH_OVER");

let server;
before(async () => {
  server = await startServer();
});
after(async () => {
  assert.equal(await server.stop(), 0, "the server ends well when it is told to stop");
});

function bearer(token) {
  return { headers: { authorization: `Bearer ${token}` } };
}

async function create(gameId, seats, visibility = PUBLIC) {
  const created = await server.matches.createMatch({
    requestId: randomUUID(),
    options: { game: { case: gameId, value: {} } },
    seats: Array.from({ length: seats }, (_, seat) => ({ kind: TAKEN, name: `seat ${seat}` })),
    visibility,
  });
  return { matchId: created.match.matchId, tokens: created.seatTokens.map(({ token }) => token) };
}

// Plays a seat from its stream alone, and gives all that the stream said.
async function play(table, seat) {
  const messages = [];
  const authorized = bearer(table.tokens[seat]);
  for await (const reply of server.matches.streamView({ matchId: table.matchId }, authorized)) {
    messages.push(reply);
    const view = reply.message.value.view;
    if (!view?.legalActions.length) continue;
    const { decision } = view.decisions.find((decision) => decision.seat === seat);
    const action = view.legalActions[messages.length % view.legalActions.length];
    const answer = await server.matches.submitAction(
      { matchId: table.matchId, actionId: randomUUID(), action, decision },
      authorized,
    );
    assert.equal(answer.replayed, false);
    assert.equal(answer.view.version, answer.version);
  }
  return messages;
}

async function refusal(call) {
  const error = await call.then(
    () => assert.fail("this was to be refused"),
    (error) => error,
  );
  assert.ok(error instanceof ConnectError, String(error));
  const [info] = error.findDetails(registry.getMessage("google.rpc.ErrorInfo"));
  assert.ok(info, `${error} carries an ErrorInfo`);
  return { code: error.code, reason: info.reason, domain: info.domain, error };
}

test("a whole match of every game is created, acted in and followed", async () => {
  const { games } = await server.catalog.listGames({});
  assert.ok(games.length > 0);
  for (const { gameId, minSeats } of games) {
    const table = await create(gameId, minSeats);
    const seats = table.tokens.map((_, seat) => play(table, seat));
    const streams = await Promise.all(seats);
    const { match } = await server.matches.getMatch({ matchId: table.matchId });
    assert.equal(match.state, OVER);
    for (const messages of streams) {
      const kinds = messages
        .map(({ message }) => message.case)
        .filter((kind) => kind !== "heartbeat");
      assert.equal(kinds[0], "snapshot");
      assert.equal(kinds.at(-1), "end");
      assert.ok(kinds.slice(1, -1).every((kind) => kind === "update"));
      assert.equal(messages.at(-1).message.value.reason, MATCH_OVER);
      assert.equal(messages.at(-1).version, match.version);
      const versions = messages
        .filter(({ message }) => message.case === "update")
        .map(({ version }) => version);
      const first = messages[0].version;
      assert.deepEqual(versions, versions.map((_, i) => first + BigInt(i + 1)));
    }
  }
});

test("a stream is resumed with the token of its last message", async () => {
  const table = await create("neon", 2);
  const [messages] = await Promise.all([play(table, 0), play(table, 1)]);
  const said = messages.filter(({ message }) => message.case !== "heartbeat");
  const middle = Math.floor(said.length / 2);
  const rest = [];
  const request = { matchId: table.matchId, resumeToken: said[middle].resumeToken };
  for await (const reply of server.matches.streamView(request, bearer(table.tokens[0]))) {
    rest.push(reply);
  }
  const schema = registry.getMessage("parlor.v1.StreamViewResponse");
  const bytes = (replies) => replies.map((reply) => toBinary(schema, reply));
  assert.deepEqual(bytes(rest), bytes(said.slice(middle + 1)));
});

test("a refusal carries its reason and its details", async () => {
  const table = await create("neon", 2, PRIVATE);
  const hidden = await refusal(server.matches.getView({ matchId: table.matchId }));
  assert.deepEqual(
    [hidden.code, hidden.reason, hidden.domain],
    [Code.Unauthenticated, "TOKEN_MISSING", "parlor"],
  );

  const bad = await refusal(server.matches.createMatch({ requestId: "nope" }));
  assert.deepEqual([bad.code, bad.reason], [Code.InvalidArgument, "INVALID_FIELD"]);
  const [request] = bad.error.findDetails(registry.getMessage("google.rpc.BadRequest"));
  assert.deepEqual(
    request.fieldViolations.map(({ field }) => field).sort(),
    ["options.game", "request_id", "seats", "visibility"],
  );
});

test("a stream that cannot begin is refused with its reason", async () => {
  const stream = server.matches.streamView({ matchId: "nope" });
  const first = await refusal(stream[Symbol.asyncIterator]().next());
  assert.deepEqual([first.code, first.reason], [Code.InvalidArgument, "INVALID_FIELD"]);
});

test("a deadline ends a stream", async () => {
  const { matchId } = await create("neon", 2);
  // Sent as a header, without a clock on this side, so that the end is certainly the server's.
  const follow = async () => {
    const headers = { "grpc-timeout": "100m" };
    for await (const reply of server.matches.streamView({ matchId }, { headers })) {
      assert.equal(reply.message.case, "snapshot");
    }
  };
  const { code, reason } = await refusal(follow());
  assert.deepEqual([code, reason], [Code.DeadlineExceeded, "DEADLINE_EXCEEDED"]);
});

function preflight(base, origin) {
  return fetch(`${base}/parlor.v1.MatchService/SubmitAction`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers":
        "authorization,content-type,grpc-timeout,x-api-key,x-grpc-web,x-user-agent",
    },
  });
}

test("a page of this machine may call, whatever its port", async () => {
  for (const origin of ["http://localhost:5173", "http://localhost", "https://127.0.0.1:8443"]) {
    const response = await preflight(server.baseUrl, origin);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("access-control-allow-origin"), origin);
    assert.equal(response.headers.get("access-control-allow-methods"), "POST");
    const allowed = response.headers.get("access-control-allow-headers").toLowerCase();
    // The star does not stand for authorization: a browser wants it named.
    for (const header of ["authorization", "content-type", "grpc-timeout", "x-grpc-web"]) {
      assert.ok(allowed.split(",").includes(header), `${header} is allowed by "${allowed}"`);
    }
  }
});

test("a page from elsewhere may not call", async () => {
  const foreign = [
    "https://evil.example",
    "http://localhost.evil.example",
    "http://evil.example:80@localhost.example",
    "null",
  ];
  for (const origin of foreign) {
    const response = await preflight(server.baseUrl, origin);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("access-control-allow-origin"), null, origin);
  }
});

test("a page reads how its call ended", async () => {
  const origin = "http://localhost:5173";
  const response = await fetch(`${server.baseUrl}/parlor.v1.MatchService/GetView`, {
    method: "POST",
    headers: { origin, "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
    body: new Uint8Array(5),
  });
  await response.arrayBuffer();
  assert.equal(response.headers.get("access-control-allow-origin"), origin);
  const exposed = response.headers.get("access-control-expose-headers").split(",");
  const told = [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "grpc-retry-pushback-ms",
    "x-trace-id",
  ];
  assert.deepEqual(exposed, told);
  assert.equal(response.headers.get("grpc-status"), String(Code.InvalidArgument));
});

test("only the origins that are named may call where some are", async () => {
  const strict = await startServer("--cors-origins", "https://a.example,https://b.example");
  try {
    for (const [origin, allowed] of [
      ["https://b.example", "https://b.example"],
      ["http://b.example", null],
      ["http://localhost:5173", null],
    ]) {
      const response = await preflight(strict.baseUrl, origin);
      assert.equal(response.headers.get("access-control-allow-origin"), allowed);
    }
  } finally {
    assert.equal(await strict.stop(), 0);
  }
});
