import type { Gate } from './gate.ts';
import type { Behaviour } from './intercepting-proxy.ts';

/** What an Admin API, or the network before it, does wrong. */

/** Answers by itself; the request never reaches the platform. */
export function answerWith(
  status: number,
  headers: Record<string, string> = {},
  body = '{"error":"made up"}',
): Behaviour {
  return ({ reply }) => reply({ status, headers: { 'content-type': 'application/json', ...headers }, body });
}

/** Lets the platform do its work and loses the answer. */
export function loseAnswer(): Behaviour {
  return async ({ forward, cut }) => {
    await forward();
    cut();
  };
}

/** Lets the platform do its work and keeps the answer until the gate is open. */
export function holdAnswer(gate: Gate): Behaviour {
  return async ({ forward, reply }) => {
    const answer = await forward();
    await gate.pass();
    reply(answer);
  };
}
