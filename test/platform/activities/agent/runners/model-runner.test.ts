import { createModelRunner } from '../../../../../platform/activities/agent/runners/create-model-runner.ts';
import {
  DEFAULT_MODEL_LIMITS,
  type ModelLimits,
} from '../../../../../platform/activities/agent/runners/model/model-limits.ts';
import { call, type OpenAiServer, type Reply, startOpenAiServer } from '../../../../helpers/openai-server.ts';
import { agentRunnerContract, type Plan } from './agent-runner.contract.ts';
import { common, createRunnerFixture, FILES, limits, logger, type RunnerFixture } from './runner-fixture.ts';

type Options = Partial<Parameters<typeof createModelRunner>[0]>;
const createRunner = (server: OpenAiServer, options: Options = {}) =>
  createModelRunner({
    ...{
      ...common,
      model: 'scripted-1',
      url: server.url,
      apiKey: 'sk-secret',
      modelLimits: DEFAULT_MODEL_LIMITS,
      logger,
    },
    ...options,
  });

const done: Reply = { content: 'Done.' };
const PLANS: Record<Plan, Reply[]> = {
  replace: [
    { calls: [call('read_file', { file: 'README.md' })] },
    {
      calls: [call('replace_in_file', { file: 'README.md', before: 'Hello', after: 'Bye' })],
      content: 'I replace it.',
    },
    done,
  ],
  nothing: [{ calls: [call('list_files')] }, done],
  fail: [{ status: 401, error: { message: 'Incorrect API key provided: sk-secret' } }],
  'go on': [{ calls: [call('list_files')] }, 'silence'],
};

describe('the model runner', () => {
  agentRunnerContract(async () => {
    const servers: OpenAiServer[] = [];
    return {
      model: 'scripted-1',
      start: async (plan) => {
        const server = await startOpenAiServer();
        servers.push(server);
        server.script(...PLANS[plan]);
        return { runner: createRunner(server), prompt: 'Say Bye instead of Hello.' };
      },
      stop: async () => {
        await Promise.all(servers.map((server) => server.close()));
      },
    };
  });

  let fixture: RunnerFixture;
  let server: OpenAiServer;
  beforeAll(async () => {
    fixture = await createRunnerFixture();
    server = await startOpenAiServer();
  });
  afterAll(async () => {
    await server?.close();
    await fixture?.remove();
  });
  const run = async (replies: Reply[], options: Options = {}, prompt = 'Do it.') => {
    server.script(...replies);
    return await fixture.run(createRunner(server, options), prompt);
  };

  describe('as a client of the endpoint', () => {
    it("sends the model's name, the key, its own instructions and the exact prompt", async () => {
      const prompt = `a\u0000b \u202eעברית {{event}} $(id)\r\n${'x'.repeat(100_000)}`;
      await run([done], {}, prompt);
      const [request] = server.requests;
      expect(request?.headers.authorization).toBe('Bearer sk-secret');
      expect(request?.body.model).toBe('scripted-1');
      expect(request?.body.messages[1]).toEqual({ role: 'user', content: prompt });
      expect(request?.body.messages[0]?.content).not.toContain('עברית');
    });

    it('works with an endpoint that needs no key and reports no token counts', async () => {
      const completion = { choices: [{ message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }] };
      server.script({ body: completion });
      const keyless = createModelRunner({
        ...{ ...common, model: 'm', url: server.url, modelLimits: DEFAULT_MODEL_LIMITS, logger },
      });
      const { outcome, output } = await fixture.run(keyless, 'x');
      expect(outcome).toEqual({ kind: 'unchanged' });
      expect(output).toMatch(/^step 1, [1-9]\d* tokens/);
    });

    it('retries after 429 and 500, and continues the conversation', async () => {
      const soon = { 'retry-after-ms': '1' };
      const { outcome } = await run([
        { status: 429, error: { message: 'slow down' }, headers: soon },
        { status: 500, error: { message: 'trouble' }, headers: soon },
        ...PLANS.replace,
      ]);
      expect(outcome.kind).toBe('changed');
      expect(server.requests).toHaveLength(5);
    });

    it('rejects, so that the whole run is retried, if the endpoint keeps failing', async () => {
      const busy: Reply = { status: 503, error: { message: 'busy' }, headers: { 'retry-after-ms': '1' } };
      await expect(run([busy])).rejects.toThrow(/503/);
      await expect(run([{ body: {} }])).rejects.toThrow(/without a message/);
    });

    it.each<[string, Reply, RegExp]>([
      ['the key is refused', { status: 401, error: { message: 'bad key sk-secret' } }, /refused the key \(401\)\.$/],
      ['the model is unknown', { status: 404, error: { message: 'no model' } }, /refused the request: 404 no model$/],
      ['the request is refused', { status: 400, error: { message: 'too long, sk-secret' } }, /too long, \*\*\*$/],
      [
        'the quota is used up',
        { status: 429, error: { message: 'pay', code: 'insufficient_quota' }, headers: { 'retry-after-ms': '1' } },
        /quota/,
      ],
      ['the response is cut off', { content: 'I beg', finishReason: 'length' }, /cut off/],
      ['the response is withheld', { content: '', finishReason: 'content_filter' }, /withheld/],
    ])('fails permanently if %s', async (_, reply, error) => {
      const { outcome, output } = await run([reply]);
      expect(outcome).toEqual({ kind: 'failed', error: expect.stringMatching(error) });
      expect(JSON.stringify(outcome) + output).not.toContain('sk-secret');
    });

    it('logs each step, but never a whole file', async () => {
      const { output } = await run(PLANS.replace);
      expect(output).toBe(`step 1, 10 tokens so far
  read_file {"file":"README.md"}
    6 characters
step 2, 20 tokens so far
I replace it.
  replace_in_file {"file":"README.md","before":"Hello","after":"Bye"}
    27 characters
step 3, 30 tokens so far
Done.
`);
    });
  });

  describe('limits a model by', () => {
    const again: Reply = { calls: [call('list_files')], tokens: 100 };
    const modelLimits = (change: Partial<ModelLimits>) => ({ modelLimits: { ...DEFAULT_MODEL_LIMITS, ...change } });
    const talkative: Reply = { ...again, content: 'y'.repeat(600) };
    it.each<[string, Options, Reply, string]>([
      ['the number of steps', modelLimits({ maxSteps: 3 }), again, 'was not done after 3 steps'],
      ['the number of tokens', modelLimits({ maxTokens: 250 }), again, 'was not done after 250 tokens'],
      ['the run time', { limits: { ...limits, timeoutMs: 500 } }, 'silence', 'was not done after 500ms'],
      ['the output size', { limits: { ...limits, outputLimitBytes: 1024 } }, talkative, 'said more than 1 KiB'],
    ])('%s', async (_, options, reply, error) => {
      const { outcome, output } = await run([reply], options);
      expect(outcome).toEqual({ kind: 'failed', error: expect.stringContaining(`The model ${error}, its `) });
      expect(output.length).toBeLessThanOrEqual(options.limits?.outputLimitBytes ?? limits.outputLimitBytes);
    });

    it('the size of a file, for reading and writing', async () => {
      const small = { modelLimits: { ...DEFAULT_MODEL_LIMITS, maxFileBytes: 5 } };
      const big = call('write_file', { file: 'new', content: '123456' });
      const { outcome } = await run([{ calls: [call('read_file', { file: 'README.md' }), big] }, done], small);
      expect(outcome).toEqual({ kind: 'unchanged' });
      expect(server.toolResults()).toEqual([
        'Error: README.md has 6 bytes; at most 5 can be read',
        'Error: 6 bytes; at most 5 can be written',
      ]);
    });
  });

  describe('gives a model tools that', () => {
    it('list, read, search, write, replace and delete files of the checkout', async () => {
      const { outcome } = await run([
        {
          calls: [
            call('list_files'),
            call('list_files', { folder: 'docs' }),
            call('read_file', { file: './windows.txt' }),
          ],
        },
        { calls: [call('search', { text: 'Hello' }), call('search', { text: 'nowhere at all' })] },
        {
          calls: [
            call('write_file', { file: 'new/folder/file.md', content: 'é\n' }),
            call('delete_file', { file: 'windows.txt' }),
          ],
        },
        { calls: [call('replace_in_file', { file: 'run.sh', before: 'echo Hello', after: 'echo Bye' })] },
        done,
      ]);
      expect(server.toolResults()).toEqual([
        '.gitattributes\n.gitignore\nREADME.md\ndocs/guide.md\nrun.sh\nwindows.txt',
        'docs/guide.md',
        'one\r\ntwo\n',
        'README.md:1: Hello\ndocs/guide.md:1: A guide: Hello\nrun.sh:2: echo Hello',
        'found nowhere',
        'new/folder/file.md: written, 3 bytes',
        'windows.txt: deleted',
        'run.sh: written, 19 bytes',
      ]);
      const { 'windows.txt': _, ...kept } = FILES;
      expect(await fixture.filesOf(outcome)).toEqual({
        ...kept,
        'run.sh': { mode: '100755', content: '#!/bin/sh\necho Bye\n' },
        'new/folder/file.md': { mode: '100644', content: 'é\n' },
      });
    });

    it('reach nothing outside of the checkout: neither by path nor by link, and not its .git folder', async () => {
      const paths = [
        '/etc/passwd',
        '../../passwd',
        'docs/../../x',
        '.git/config',
        'docs/.GIT/config',
        'link',
        'link/x',
        'a\0b',
        '',
      ];
      const { outcome } = await run([
        {
          calls: paths.flatMap((file) => [
            call('read_file', { file }),
            call('write_file', { file, content: 'x' }),
            call('delete_file', { file }),
            call('list_files', { folder: file === '' ? 'link' : file }),
          ]),
        },
        done,
      ]);
      expect(server.toolResults()).toHaveLength(4 * paths.length);
      expect(server.toolResults().filter((each) => !each.startsWith('Error: '))).toEqual([]);
      expect(outcome).toEqual({ kind: 'unchanged' });
    });

    it('report what was wrong with a call, and let the model continue', async () => {
      const { outcome, output } = await run([
        {
          calls: [
            { name: 'read_file', arguments: '{"file": ' },
            call('read_file', { path: 'README.md' }),
            call('no_such_tool', {}),
            call('read_file', { file: 'missing.md' }),
            call('write_file', { file: 'docs', content: '' }),
            call('write_file', { file: 'README.md/x', content: '' }),
            call('replace_in_file', { file: 'README.md', before: 'l', after: '' }),
            call('run_check'),
            { name: 'list_files', arguments: '' },
          ],
        },
        done,
      ]);
      expect(outcome).toEqual({ kind: 'unchanged' });
      const tools = 'list_files, read_file, search, replace_in_file, write_file, delete_file';
      expect(server.toolResults()).toEqual([
        "Error: bad arguments: they aren't JSON",
        expect.stringMatching(/^Error: bad arguments: .*(file|path)/s),
        `Error: there is no tool no_such_tool; there are ${tools}`,
        'Error: missing.md: no such file',
        'Error: docs is not a file',
        'Error: README.md/x: README.md is no folder',
        'Error: README.md: expected the text to replace exactly once, found 2 times',
        `Error: there is no tool run_check; there are ${tools}`,
        expect.stringContaining('README.md'),
      ]);
      expect(output).toContain("refused: bad arguments: they aren't JSON");
    });

    it('refuse to read a file that is not UTF-8 text', async () => {
      const write = call('write_file', { file: 'zero', content: 'a\0b' });
      await run([{ calls: [write, call('read_file', { file: 'zero' }), call('search', { text: 'a' })] }, done]);
      expect(server.toolResults().slice(1, 2)).toEqual(['Error: zero is not a text file in UTF-8']);
      expect(server.toolResults()[2]).not.toContain('zero');
    });
  });

  describe("runs the project's check", () => {
    const check: Options = {
      sandbox: 'off',
      checkCommand: `sh -c 'cat README.md; git status --short; echo spoilt > README.md; grep -q Bye docs/guide.md'`,
    };

    it('on a copy, and returns its exit code and output', async () => {
      const { outcome } = await run(
        [
          { calls: [call('run_check')] },
          { calls: [call('write_file', { file: 'docs/guide.md', content: 'Bye\n' }), call('run_check')] },
          done,
        ],
        check,
      );
      expect(server.requests[0]?.body.tools.map((each) => each.function.name)).toContain('run_check');
      expect(server.toolResults()).toEqual([
        'exit code 1\nHello\n',
        'docs/guide.md: written, 4 bytes',
        'exit code 0\nHello\n M docs/guide.md\n',
      ]);
      expect(await fixture.filesOf(outcome)).toMatchObject({ 'README.md': FILES['README.md'] });
    });

    it('and shows only the end of a long output', async () => {
      await run([{ calls: [call('run_check')] }, done], {
        ...{ sandbox: 'off', checkCommand: `sh -c 'seq 1 100000; exit 2'` },
      });
      const [result = ''] = server.toolResults();
      expect(result.length).toBeLessThan(20_000);
      expect(result).toMatch(/^exit code 2\n.*99999\n100000\n$/s);
    });
  });

  it('names the missing check command, and rejects an invalid command line', async () => {
    expect((await run([done], { checkCommand: 'no-such-check' })).outcome).toEqual({
      kind: 'failed',
      error: "The check's command no-such-check isn't on this worker: correct AGENT_CHECK_COMMAND or PATH.",
    });
    expect(() => createRunner(server, { checkCommand: 'a | b' })).toThrow(/AGENT_CHECK_COMMAND/);
  });

  it("ignores the worker's own OPENAI_ environment variables", async () => {
    Object.assign(process.env, { OPENAI_ORG_ID: 'org-of-the-worker', OPENAI_PROJECT_ID: 'project-of-the-worker' });
    try {
      await run([done]);
    } finally {
      delete process.env.OPENAI_ORG_ID;
      delete process.env.OPENAI_PROJECT_ID;
    }
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('of-the-worker');
  });
});
