import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startHttpSite } from './http-site.ts';

const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string().min(1) }),
  z.strictObject({ role: z.literal('user'), content: z.string().min(1) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullable(),
    tool_calls: z.array(toolCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
]);

/** The part of the API's request format that is used. Anything else is rejected. */
const chatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(2),
  tools: z.array(
    z.strictObject({
      type: z.literal('function'),
      function: z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
        description: z.string(),
        parameters: z.looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.looseObject({})) }),
      }),
    }),
  ),
});

export type ChatRequest = z.infer<typeof chatRequest>;

/** The next response of the model: tool calls, a final message, an error, or an arbitrary body. */
export type Reply =
  | { calls: { name: string; arguments: string }[]; content?: string; tokens?: number }
  | { content: string; finishReason?: string; tokens?: number }
  | { status: number; error: { message: string; code?: string }; headers?: Record<string, string> }
  | { body: unknown }
  /** No response: the connection stays open. */
  | 'silence';

export type OpenAiServer = {
  url: string;
  /** The valid requests so far. */
  requests: { body: ChatRequest; headers: IncomingHttpHeaders }[];
  /** Sets the next replies. The last one is repeated. */
  script(...replies: Reply[]): void;
  /** The tool results in the last request. */
  toolResults(): string[];
  close(): Promise<void>;
};

/** A real HTTP server with scripted replies for the part of the chat completions API that a tool loop uses. */
export async function startOpenAiServer(): Promise<OpenAiServer> {
  const requests: OpenAiServer['requests'] = [];
  let replies: Reply[] = [];
  const { origin, close } = await startHttpSite((request, response) => {
    read(request)
      .then((body) => {
        requests.push({ body, headers: request.headers });
        const reply = (replies.length > 1 ? replies.shift() : replies[0]) ?? 'silence';
        if (reply !== 'silence') sendReply(response, reply, requests.length);
      })
      // 400 is not retried, so the test fails.
      .catch((error: unknown) => send(response, 400, { error: { message: `the test server: ${String(error)}` } }));
  });
  return {
    url: `${origin}/v1`,
    requests,
    script: (...next) => {
      replies = next;
      requests.length = 0;
    },
    toolResults: () =>
      (requests.at(-1)?.body.messages ?? []).flatMap((each) => (each.role === 'tool' ? [each.content] : [])),
    close,
  };
}

async function read(request: IncomingMessage): Promise<ChatRequest> {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    throw new Error(`${request.method} ${request.url}`);
  }
  const body = chatRequest.parse(JSON.parse(await text(request)));
  const [system, user, ...others] = body.messages;
  if (system?.role !== 'system' || user?.role !== 'user') throw new Error('expected a system message and the prompt');
  let open: string[] = [];
  for (const each of others) {
    if (each.role === 'tool') open = open.filter((id) => id !== each.tool_call_id);
    else if (open.length > 0) throw new Error(`tool calls without a result: ${open}`);
    if (each.role === 'assistant') open = (each.tool_calls ?? []).map(({ id }) => id);
  }
  if (open.length > 0) throw new Error(`tool calls without a result: ${open}`);
  return body;
}

function sendReply(response: ServerResponse, reply: Exclude<Reply, 'silence'>, count: number): void {
  if ('status' in reply) {
    send(response, reply.status, { error: reply.error }, reply.headers);
    return;
  }
  if ('body' in reply) {
    send(response, 200, reply.body);
    return;
  }
  const calls = 'calls' in reply ? reply.calls : [];
  const tokens = reply.tokens ?? 10;
  const finishReason = 'finishReason' in reply ? reply.finishReason : undefined;
  const message = {
    role: 'assistant',
    content: reply.content ?? null,
    refusal: null,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call, index) => ({ id: `call_${count}_${index}`, type: 'function', function: call })),
        }),
  };
  send(response, 200, {
    id: `chatcmpl-${count}`,
    object: 'chat.completion',
    created: 1_795_000_000,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: finishReason ?? (calls.length === 0 ? 'stop' : 'tool_calls'),
      },
    ],
    usage: { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens },
  });
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A tool call in the format of a model. */
export function call(name: string, input: unknown = {}): { name: string; arguments: string } {
  return { name, arguments: JSON.stringify(input) };
}
