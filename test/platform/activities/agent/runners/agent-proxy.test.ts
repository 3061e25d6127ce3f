import { once } from 'node:events';
import { request } from 'node:http';
import { pino } from 'pino';
import { RefusedUrl } from '../../../../../exporter/fetch/address-guard.ts';
import { startAgentProxy } from '../../../../../platform/activities/agent/runners/network/agent-proxy.ts';
import { createAllowList } from '../../../../../platform/activities/agent/runners/network/allow-list.ts';

const PUBLIC = '93.184.216.34';

describe("the agent's allow list", () => {
  /** An allow list whose look-ups of a name return these addresses in turn. The last one repeats. */
  function listWith(answers: Record<string, string[][]>, refuse: string[] = []) {
    const lookups: string[] = [];
    const allow = ['api.example:443', 'api.example:7233', '[2606:4700::1]:443'];
    const list = createAllowList({ allow, refuse }, async (name) => {
      lookups.push(name);
      const [first, ...rest] = answers[name] ?? [];
      if (first === undefined) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
      if (rest.length > 0) answers[name] = rest;
      return first;
    });
    return { list, lookups };
  }

  it.each(['https://other.example', 'https://api.example:444', 'http://api.example', 'https://api.example.:443'])(
    'does not include %s if it only names api.example:443',
    (url) => {
      const { list, lookups } = listWith({});
      expect(() => list.checkUrl(new URL(url))).toThrow(RefusedUrl);
      expect(lookups).toEqual([]);
    },
  );

  it('includes a host on its port, and checks the addresses of a new look-up for each connection', async () => {
    const { list, lookups } = listWith({ 'api.example': [[PUBLIC], ['127.0.0.1']] });
    list.checkUrl(new URL('https://API.example/x'));
    expect(await list.addressesFor('api.example', 443)).toEqual([PUBLIC]);
    await expect(list.addressesFor('api.example', 443)).rejects.toThrow('not at a public address');
    expect(lookups).toEqual(['api.example', 'api.example']);
    list.checkUrl(new URL('https://[2606:4700:0::1]'));
    expect(await list.addressesFor('[2606:4700::1]', 443)).toEqual(['2606:4700::1']);
  });

  it.each([
    ...['127.0.0.1', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '169.254.169.254', '224.0.0.1'],
    ...['::1', '::', 'fe80::1', 'fd00:ec2::254', 'ff02::1', '::ffff:127.0.0.1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::'],
  ])('rejects an allowed name that resolves to %s, also beside a public address', async (address) => {
    for (const answer of [[address], [PUBLIC, address]]) {
      const { list } = listWith({ 'api.example': [answer] });
      const reason = new RefusedUrl('api.example:443 of AGENT_NETWORK_ALLOW is not at a public address');
      await expect(list.addressesFor('api.example', 443)).rejects.toThrow(reason);
    }
  });

  it("rejects Galley's own servers, and rejects everything on their port if their addresses are unknown", async () => {
    const own = ['temporal.internal:7233', `${PUBLIC}:5432`];
    const known = { 'api.example': [[PUBLIC]], 'temporal.internal': [[PUBLIC]] };
    await expect(listWith(known, own).list.addressesFor('api.example', 7233)).rejects.toThrow('belongs to Galley');
    expect(await listWith(known, own).list.addressesFor('api.example', 443)).toEqual([PUBLIC]);
    await expect(listWith({}).list.addressesFor('api.example', 443)).rejects.toThrow(
      "api.example:443 of AGENT_NETWORK_ALLOW can't be resolved",
    );
    const unknown = listWith({ 'api.example': [[PUBLIC]] }, own);
    await expect(unknown.list.addressesFor('api.example', 7233)).rejects.toThrow(
      "a server of Galley on that port can't be resolved",
    );
  });
});

test('the proxy logs each refused host once, and at most fifty hosts per run', async () => {
  const lines: { reason: string; jobId: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const network = { allow: ['api.example:443'], refuse: [] };
  const proxy = await startAgentProxy({ network, jobId: 'aj_0000000000000000', logger });
  const statusOf = async (path: string) => {
    const outgoing = request({ socketPath: proxy.socketPath, path, agent: false }).end();
    const [response] = await once(outgoing, 'response');
    response.resume();
    return response.statusCode;
  };
  try {
    for (const host of ['a', 'a', ...Array.from({ length: 60 }, (_, at) => `host-${at}`)])
      expect(await statusOf(`http://user:word@${host}.example/path?key=secret`)).toBe(403);
    expect(await statusOf('/')).toBe(400);
  } finally {
    await proxy.close();
  }
  expect(lines).toHaveLength(50);
  expect(lines[0]).toMatchObject({
    jobId: 'aj_0000000000000000',
    reason: 'a.example:80 is not in AGENT_NETWORK_ALLOW',
  });
  expect(JSON.stringify(lines)).not.toMatch(/secret|path|word/);
});
