// Requests and answers of the mock server, as JSON and problem+json.
import http from "node:http";

/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {import("node:http").ServerResponse} Answer */

/** @param {Request} request @returns {Promise<Buffer>} */
export async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param {Answer} answer @param {unknown} value @param {number} [status] */
export function json(answer, value, status = 200) {
  text(answer, "application/json", JSON.stringify(value), status);
}

/** @param {Answer} answer @param {string} type @param {string} body @param {number} [status] */
export function text(answer, type, body, status = 200) {
  answer.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
}

/** @param {Answer} answer @param {number} status @param {string} code @param {string} detail */
export function problem(answer, status, code, detail) {
  const body = {
    type: `urn:bitpool:problem:${code}`,
    title: http.STATUS_CODES[status],
    status,
    detail,
    code,
    request_id: "mock-1",
  };
  text(answer, "application/problem+json", JSON.stringify(body), status);
}
