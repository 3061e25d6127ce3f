import OpenAI from 'openai';
import { RunFailure } from './run-failure.ts';

type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

export type Answer = {
  message: OpenAI.Chat.Completions.ChatCompletionMessage;
  /** Tokens of the request and the response. */
  tokens: number;
};

export type AskModel = (messages: Messages, signal: AbortSignal) => Promise<Answer>;

type ModelEndpoint = {
  url: string;
  apiKey: string | undefined;
  model: string;
  requestTimeoutMs: number;
  tools: OpenAI.Chat.Completions.ChatCompletionFunctionTool[];
};

/** Retries of 429, 5xx, timeouts and lost connections: half a second apart and growing, or as the endpoint says. */
const MAX_RETRIES = 4;

/** Estimate of characters per token, for endpoints that don't count tokens. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Asks a model behind an OpenAI-compatible API for its next message. Throws a RunFailure if a retry won't help (a
 * rejected key, an unknown model, a truncated response), the signal's reason when aborted, and the client's error once
 * its retries are used up.
 */
export function createAskModel({ url, apiKey, model, requestTimeoutMs, tools }: ModelEndpoint): AskModel {
  const client = new OpenAI({
    baseURL: url,
    // The client requires a key; a local server takes any.
    apiKey: apiKey ?? 'none',
    // Null keeps the client from reading the worker's own environment.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    timeout: requestTimeoutMs,
    maxRetries: MAX_RETRIES,
    logLevel: 'off',
  });
  return async (messages, signal) => {
    const request = client.chat.completions.create({ model, messages, tools }, { signal });
    const completion = await untilAborted(request, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw failureOf(error, apiKey);
    });
    const choice = completion.choices?.[0];
    if (choice?.message === undefined) throw new Error("The model's endpoint answered without a message.");
    if (choice.finish_reason === 'length') {
      throw new RunFailure("The model's answer was cut off at its greatest length.");
    }
    if (choice.finish_reason === 'content_filter')
      throw new RunFailure("The endpoint's filter withheld the model's answer.");
    const characters = JSON.stringify(messages).length + JSON.stringify(choice.message).length;
    const tokens = completion.usage?.total_tokens ?? Math.ceil(characters / CHARACTERS_PER_TOKEN);
    return { message: choice.message, tokens };
  };
}

/** The client's pause between retries ignores the signal, so listen here. */
async function untilAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([request, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A RunFailure if it is final, otherwise the original error. */
function failureOf(error: unknown, apiKey: string | undefined): unknown {
  if (!(error instanceof OpenAI.APIError)) return error;
  const { status, code } = error;
  if (status === 401 || status === 403) return new RunFailure(`The model's endpoint refused the key (${status}).`);
  if (code === 'insufficient_quota') return new RunFailure("The quota at the model's endpoint is used up.");
  if (status === 408 || status === 409 || status === 429 || status === undefined || status >= 500) return error;
  // The endpoint's message helps here, but must not contain the key.
  const message = apiKey === undefined ? error.message : error.message.replaceAll(apiKey, '***');
  return new RunFailure(`The model's endpoint refused the request: ${message.slice(0, 300)}`);
}
