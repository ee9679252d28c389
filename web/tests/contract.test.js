// The mock server keeps to the description of the real one, so that what works with it works.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rules } from "../page/app/words.js";
import { tools } from "./browser.js";
import { MockServer } from "./mock/server.js";

const description = fileURLToPath(new URL("../../src/bitpool/serve/openapi.json", import.meta.url));
const require = createRequire(path.join(tools, "package.json"));

/** @type {{method?: string, address: string, route: string, body?: unknown, status?: number}[]} */
const requests = [
  { address: "/v1/server", route: "/v1/server" },
  { address: "/v1/libraries", route: "/v1/libraries" },
  { address: "/v1/libraries/photos/pictures?limit=5", route: "/v1/libraries/{library}/pictures" },
  { address: "/v1/libraries/photos/pictures?state=failed", route: "/v1/libraries/{library}/pictures" },
  { address: "/v1/libraries/photos/pictures/7", route: "/v1/libraries/{library}/pictures/{id}" },
  { address: "/v1/libraries/photos/pictures/4711", route: "/v1/libraries/{library}/pictures/{id}", status: 404 },
  { address: "/v1/libraries/photos/folders", route: "/v1/libraries/{library}/folders" },
  { address: "/v1/libraries/photos/dates", route: "/v1/libraries/{library}/dates" },
  {
    method: "post",
    address: "/v1/libraries/photos/search?k=9",
    route: "/v1/libraries/{library}/search",
    body: { picture: 7 },
  },
  { address: "/v1/libraries/photos/duplicates", route: "/v1/libraries/{library}/duplicates" },
  {
    method: "post",
    address: "/v1/libraries/photos/duplicates/decisions",
    route: "/v1/libraries/{library}/duplicates/decisions",
    body: { action: "keep_suggested", kind: "exact", rule: "size" },
  },
  { address: "/v1/libraries/photos/duplicates/decisions", route: "/v1/libraries/{library}/duplicates/decisions" },
  {
    method: "delete",
    address: "/v1/libraries/photos/duplicates/decisions/1",
    route: "/v1/libraries/{library}/duplicates/decisions/{decision}",
  },
  {
    method: "post",
    address: "/v1/libraries/photos/updates",
    route: "/v1/libraries/{library}/updates",
    status: 202,
  },
  { address: "/v1/jobs", route: "/v1/jobs" },
  { address: "/v1/jobs/1", route: "/v1/jobs/{job}" },
  { method: "delete", address: "/v1/jobs/1", route: "/v1/jobs/{job}", status: 202 },
];

test(
  "answers are as openapi.json describes them",
  { skip: !existsSync(description) && "there is no description" },
  async () => {
    const { default: Ajv } = require("ajv/dist/2020");
    const ajv = new Ajv({ strict: false, allErrors: true });
    require("ajv-formats").default(ajv);
    const openapi = JSON.parse(readFileSync(description, "utf8"));
    ajv.addSchema(openapi, "openapi.json");
    const server = new MockServer({ count: 60, duplicates: 8 });
    const address = await server.listen();
    try {
      for (const { method = "get", address: target, route, body, status = 200 } of requests) {
        const answer = await fetch(new URL(target, address), {
          method,
          headers: body ? { "Content-Type": "application/json" } : {},
          body: body ? JSON.stringify(body) : undefined,
        });
        assert.equal(answer.status, status, target);
        const type = status < 400 ? "application/json" : "application/problem+json";
        const described = openapi.paths[route][method].responses[status];
        const { schema } = (described.$ref ? lookUp(openapi, described.$ref) : described).content[type];
        const check = ajv.compile(absolute(schema));
        assert.ok(check(await answer.json()), `${method} ${target}: ${ajv.errorsText(check.errors)}`);
      }
    } finally {
      server.close();
    }
  },
);

// The mock server takes any rule, the real one refuses those that it does not know.
test(
  "the page offers the rules that openapi.json has",
  { skip: !existsSync(description) && "there is no description" },
  () => {
    const openapi = JSON.parse(readFileSync(description, "utf8"));
    assert.deepEqual(
      rules.map(([rule]) => rule),
      openapi.components.schemas.Rule.enum,
    );
  },
);

/** @param {any} openapi @param {string} reference such as #/components/responses/NotFound */
const lookUp = (openapi, reference) =>
  reference
    .slice(2)
    .split("/")
    .reduce((found, name) => found[name], openapi);

/** The schema with references that lead into the description. @param {unknown} schema */
const absolute = (schema) => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
