import OpenAI from 'openai';
import { RunFailure } from './run-failure.ts';

type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

export type Answer = {
  message: OpenAI.Chat.Completions.ChatCompletionMessage;
  /** Tokens of the request and the answer. */
  tokens: number;
};

export type AskModel = (messages: Messages, signal: AbortSignal) => Promise<Answer>;

export type ModelEndpoint = {
  url: string;
  apiKey: string | undefined;
  model: string;
  requestTimeoutMs: number;
  tools: OpenAI.Chat.Completions.ChatCompletionFunctionTool[];
};

/** 429, 5xx, timeouts and lost connections: half a second and longer apart, or as the endpoint says. */
const MAX_RETRIES = 4;

/** Where an endpoint doesn't count, a token is taken for four characters. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Asks a model over an OpenAI-compatible API for its next message.
 * The returned function throws a RunFailure for what another try won't mend (a refused key, an unknown model, an answer
 * that was cut off), the signal's reason when aborted, and the client's error once its retries are used up.
 */
export function createAskModel({ url, apiKey, model, requestTimeoutMs, tools }: ModelEndpoint): AskModel {
  const client = new OpenAI({
    baseURL: url,
    // The client insists on one; a local server takes any.
    apiKey: apiKey ?? 'none',
    // Null keeps the client from looking into the worker's own environment.
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

/** The client's pause between two tries doesn't listen to the signal: this does. */
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

/** A failure that is final, or the error as it was. */
function failureOf(error: unknown, apiKey: string | undefined): unknown {
  if (!(error instanceof OpenAI.APIError)) return error;
  const { status, code } = error;
  if (status === 401 || status === 403) return new RunFailure(`The model's endpoint refused the key (${status}).`);
  if (code === 'insufficient_quota') return new RunFailure("The quota at the model's endpoint is used up.");
  if (status === 408 || status === 409 || status === 429 || status === undefined || status >= 500) return error;
  // An endpoint's own words help here, and must not carry the key.
  const message = apiKey === undefined ? error.message : error.message.replaceAll(apiKey, '***');
  return new RunFailure(`The model's endpoint refused the request: ${message.slice(0, 300)}`);
}
