import type { Gate } from './gate.ts';
import type { Behaviour } from './intercepting-proxy.ts';

/** Faults of an Admin API, or of the network in front of it. */

/** Responds itself, so the request never reaches the platform. */
export function answerWith(
  status: number,
  headers: Record<string, string> = {},
  body = '{"error":"made up"}',
): Behaviour {
  return ({ reply }) => reply({ status, headers: { 'content-type': 'application/json', ...headers }, body });
}

/** Forwards the request and loses the response. */
export function loseAnswer(): Behaviour {
  return async ({ forward, cut }) => {
    await forward();
    cut();
  };
}

/** Forwards the request and holds the response until the gate is open. */
export function holdAnswer(gate: Gate): Behaviour {
  return async ({ forward, reply }) => {
    const response = await forward();
    await gate.pass();
    reply(response);
  };
}
